"""Defines what a metered route provides to the core; everything else is common to all routes."""

from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

from accounts.rules.principal import Principal
from billing.operations import closings
from billing.rules.prices import PriceList
from gateway.core.contract.aliases import Route
from gateway.core.contract.capabilities import infer_scopes
from gateway.core.database import BatchFunction
from gateway.core.http.multipart import Form
from inference.interface.model import PriceVersion, ServedModel
from inference.interface.plan import Endpoints
from inference.interface.request import BoundedRequest
from inference.rules.terms import Terms, read_terms

Headers = list[tuple[bytes, bytes]]


class MeteredRequest(Protocol):
    """The required interface of a request. Header names are lower case; the body is read once, and not before it is needed."""

    method: str
    raw_path: bytes
    raw_headers: Headers
    request_id: str

    def read_body(self, limit_bytes: int) -> Awaitable[bytes]: ...

    def read_form(self, limit_bytes: int) -> Awaitable[Form]:
        """Read a multipart body instead. Its file stays on disk until the answer is sent and no call needs it any more."""

    def take_memory(self, size_bytes: int) -> None:
        """Reserve memory, beyond the body's, until the answer is sent. Raises NotReady if there is not enough."""


class Body(Protocol):
    """The parsed body of a request, not yet checked. `is_large` if checking it would block the event loop for long.

    `digest` is the SHA-256 that identifies a repeated request, `body_sha256` that of the body's bytes as they were sent; None
    if the request has no body.
    """

    @property
    def is_large(self) -> bool: ...

    @property
    def digest(self) -> bytes: ...

    @property
    def body_sha256(self) -> bytes | None: ...

    @property
    def model(self) -> str:
        """Return the name of the requested model. Raises InvalidRequest."""


Read = TypeVar("Read", bound=Body)
Valid = TypeVar("Valid")


class PendingRequest(ABC, Generic[Valid]):
    """A valid request that depends on its caller's records. Only for these is the database read before the hold."""

    @abstractmethod
    async def load(self, principal: Principal, take_memory: Callable[[int], None]) -> Valid:
        """Read the records, only the caller's own, and reserve their memory before converting them. Raises the
        catalogue's error, or what `take_memory` raises."""


@dataclass(frozen=True, kw_only=True)
class MeteredRoute(Generic[Read, Valid]):
    """One metered route: its name in usage records, the prefix of its answers' ids, and its particular steps.

    - `read` checks the media type and reads the body. Raises the catalogue's error.
    - `check` checks a body for a model, without I/O, in a thread if it is large. Raises InvalidRequest.
    - `check_prices` checks whether what a valid request asks for has a price. Raises InvalidRequest.
    - `bound` computes the hold, within the caller's maximum in micro-USD. Raises MaxCostExceeded with the required amount, or
      PriceError if something requested has no price.
    - `prepare` fetches what a request that `needs_preparing` lacks, after the ledger has confirmed that the hold can be
      placed, and before it is placed. It may return a request with a different hold. Raises the catalogue's error.
    - `endpoints` maps the names of upstreams' adapters to the endpoints that serve the route; see `Endpoints`.
    - `scopes` returns the scopes that a token needs to call a model here; `terms` reads the headers that limit a call's cost.
    - `close_function` closes its calls in SQL, and may store more in the same transaction.
    - `consent` is the kind of consent that its callers must have given, and must not withdraw while a session is open.
    """

    name: Route
    id_prefix: str
    read: Callable[[MeteredRequest], Awaitable[Read]]
    check: Callable[[Read, ServedModel], Valid | PendingRequest[Valid]]
    bound: Callable[[Valid, ServedModel, PriceVersion, int], BoundedRequest]
    endpoints: Endpoints
    prepare: Callable[[MeteredRequest, Any], Awaitable[BoundedRequest]] | None = None
    scopes: Callable[[str], tuple[str, ...]] = infer_scopes
    terms: Callable[[Headers], Terms] = read_terms
    close_function: BatchFunction = closings.CLOSE
    consent: str | None = None
    check_prices: Callable[[Valid, PriceList], object] | None = None
