"""What a metered route tells the core of itself; everything else is the same for all of them."""

from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

from accounts.rules.principal import Principal
from billing.operations import closings
from gateway.core.api.multipart import Form
from gateway.core.contract.aliases import Route
from gateway.core.contract.capabilities import infer
from gateway.core.database import BatchFunction
from inference.rules.model import PriceVersion, ServedModel
from inference.rules.plan import Endpoints
from inference.rules.request import BoundedRequest
from inference.rules.terms import Terms, read_terms

Headers = list[tuple[bytes, bytes]]


class MeteredRequest(Protocol):
    """What is needed of a request. Header names are lower case; the body is read once, when it is its turn."""

    method: str
    raw_path: bytes
    raw_headers: Headers
    request_id: str

    def read_body(self, limit_bytes: int) -> Awaitable[bytes]: ...

    def read_form(self, limit_bytes: int) -> Awaitable[Form]:
        """Read a multipart body instead; its file is on disk until the answer is out, and for as long as a call keeps it."""

    def take_memory(self, size_bytes: int) -> None:
        """Count what is kept until the answer is out, beside the body. Raises NotReady where there is no room."""


class Body(Protocol):
    """What came with a request, read but not yet checked. `is_large` where checking it would keep the event loop long.

    `digest` is the SHA-256 by which a repeated request is known to be the same.
    """

    @property
    def is_large(self) -> bool: ...

    @property
    def digest(self) -> bytes: ...

    @property
    def model(self) -> str:
        """Return the name of the model that is asked for. Raises InvalidRequest."""


Read = TypeVar("Read", bound=Body)
Valid = TypeVar("Valid")


class PendingRequest(ABC, Generic[Valid]):
    """A valid request whose bound depends on records: the one case in which the database is read before the hold."""

    @abstractmethod
    async def load(self, principal: Principal, take_memory: Callable[[int], None]) -> Valid:
        """Read the records, the caller's own alone, and count them before anything is made of them. Raises the
        catalogue's error, or what `take_memory` raises."""


@dataclass(frozen=True, kw_only=True)
class MeteredRoute(Generic[Read, Valid]):
    """One metered route: its name in usage records, the prefix of its answers' ids, and what is particular to it.

    - `read` checks the media type and reads the body. Raises the catalogue's error.
    - `check` checks a body for a model, without I/O, in a thread where it is large. Raises InvalidRequest.
    - `bound` computes the hold, within the caller's maximum in micro-USD. Raises MaxCostExceeded with what it would need, or
      PriceError where something that is asked for has no price.
    - `prepare` gets from elsewhere what a request that `needs_preparing` lacks, once the ledger has said that nothing is in
      the way of its hold, and before that is placed. It may return a request with another hold. Raises the catalogue's error.
    - `endpoints` serve it, by the name of an upstream's adapter; see `Endpoints`.
    - `scopes` names what a token needs to call a model here, `terms` reads the headers that state what a call may cost.
    - `close_function` closes its calls in SQL; it may keep something more in the same transaction.
    - `consent` is the kind of consent that its callers need, and need to keep while a session is open.
    """

    name: Route
    id_prefix: str
    read: Callable[[MeteredRequest], Awaitable[Read]]
    check: Callable[[Read, ServedModel], Valid | PendingRequest[Valid]]
    bound: Callable[[Valid, ServedModel, PriceVersion, int], BoundedRequest]
    endpoints: Endpoints
    prepare: Callable[[MeteredRequest, Any], Awaitable[BoundedRequest]] | None = None
    scopes: Callable[[str], tuple[str, ...]] = lambda model: (infer(model),)
    terms: Callable[[Headers], Terms] = read_terms
    close_function: BatchFunction = closings.CLOSE
    consent: str | None = None
