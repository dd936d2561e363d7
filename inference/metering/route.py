"""What a metered route tells the core of itself; everything else is the same for all of them."""

from abc import ABC, abstractmethod
from collections.abc import Awaitable, Mapping
from typing import Any, ClassVar, Generic, Protocol, TypeVar

from accounts.rules.principal import Principal
from billing.operations import closings
from gateway.contract.aliases import Route
from gateway.contract.capabilities import infer
from gateway.database import BatchFunction
from inference.rules.model import PriceVersion, ServedModel
from inference.rules.request import BoundedRequest
from inference.rules.terms import Terms, read_terms
from inference.rules.upstream import Endpoint

Headers = list[tuple[bytes, bytes]]


class MeteredRequest(Protocol):
    """What is needed of a request. Header names are lower case; the body is read once, when it is its turn."""

    method: str
    raw_path: bytes
    raw_headers: Headers
    request_id: str

    def read_body(self, limit_bytes: int) -> Awaitable[bytes]: ...


class Body(Protocol):
    """What came with a request, read but not yet checked. `is_large` where checking it would keep the event loop long."""

    @property
    def is_large(self) -> bool: ...

    @property
    def model(self) -> str:
        """Return the name of the model that is asked for. Raises InvalidRequest."""

    @property
    def digest(self) -> bytes:
        """Return the SHA-256 by which a repeated request is known to be the same."""


Read = TypeVar("Read", bound=Body)
Valid = TypeVar("Valid")


class PendingRequest(ABC, Generic[Valid]):
    """A valid request whose bound depends on records: the one case in which the database is read before the hold."""

    @abstractmethod
    async def load(self, principal: Principal) -> Valid:
        """Read the records, the caller's own alone. Raises the catalogue's error."""


class MeteredRoute(ABC, Generic[Read, Valid]):
    """One metered route. `endpoints` has what serves it, by the name of an upstream's adapter."""

    name: ClassVar[Route]
    id_prefix: ClassVar[str]
    endpoints: ClassVar[Mapping[str, Endpoint[Any]]]
    close_function: ClassVar[BatchFunction] = closings.CLOSE
    """The SQL function that closes the route's calls; it may keep something more in the same transaction."""

    def scope(self, model: str) -> str:
        """Return the scope that a token needs to call a model here."""
        return infer(model)

    def terms(self, headers: Headers) -> Terms:
        """Read what the caller states about the call. Raises the error that names the first header at fault."""
        return read_terms(headers)

    @abstractmethod
    async def read(self, request: MeteredRequest) -> Read:
        """Check the media type and read the body. Raises the catalogue's error."""

    @abstractmethod
    def check(self, body: Read, model: ServedModel) -> Valid | PendingRequest[Valid]:
        """Check a body without I/O, in a thread where it is large. Raises InvalidRequest naming the member at fault."""

    @abstractmethod
    def bound(self, request: Valid, model: ServedModel, price: PriceVersion, max_cost_microusd: int) -> BoundedRequest:
        """Compute the hold of a valid request, and what is sent for it.

        Raises MaxCostExceeded with what it would need at least, or PriceError where something that it asks for has no
        price.
        """
