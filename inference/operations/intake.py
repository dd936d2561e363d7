"""Everything about a metered request that can be decided without the database, in the order of checks.

A request that fails here still goes to the database once: its proof is taken, so that it serves no second time, and a
repeated request gets its first answer, whatever else is wrong with it by now.
"""

import hashlib
import time
from collections.abc import Awaitable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Protocol

from accounts.authentication import Verified, verify
from gateway.api.access import require_scope
from gateway.api.json import canonical, strict_loads_async
from gateway.api.offload import is_large, offload
from gateway.contract.aliases import Route
from gateway.contract.capabilities import infer
from gateway.contract.errors import ApiError, InvalidRequest, ModelNotFound, ModelUnavailable, UnsupportedMediaType
from gateway.contract.ids import new_id
from inference.adapters.registry import adapter_named
from inference.queries import catalogue
from inference.rules.demand import Demand, RouteRules
from inference.rules.headers import Metering, read_metering
from inference.rules.model import PriceVersion, ServedModel
from inference.rules.sizing import Sized, size


class MeteredRequest(Protocol):
    """What is needed of a request. Header names are lower case; the body is read once, when it is its turn."""

    method: str
    raw_path: bytes
    raw_headers: list[tuple[bytes, bytes]]
    request_id: str

    def read_body(self, limit_bytes: int) -> Awaitable[bytes]: ...


@dataclass(slots=True)
class Intake:
    """A request on its way through the checks; what a failing check would have set is None."""

    request: MeteredRequest
    rules: RouteRules
    verified: Verified
    metering: Metering | None = None
    digest: bytes | None = None
    model: ServedModel | None = None
    body_bytes: int = 0
    is_large: bool = False


@dataclass(frozen=True, slots=True)
class Ready:
    """A request that passed every check of the process: what is to be held, and what would go upstream."""

    sized: Sized
    price: PriceVersion
    usage_id: str
    public_id: str


@dataclass(frozen=True, slots=True)
class Refused:
    """A request that failed one, and before which step of the database's own checks that was."""

    error: ApiError
    stop_before: str


async def begin(request: MeteredRequest, rules: RouteRules) -> Intake:
    """Check proof and token, or raise: where they fail, there is nothing to take."""
    path = request.raw_path.partition(b"?")[0].decode("latin-1")
    verified = await verify(request.method, path, _joined(request.raw_headers), time.time())
    return Intake(request, rules, verified)


async def check(intake: Intake) -> Ready | Refused:
    """Run the other checks in order. Raises nothing of the catalogue."""
    try:
        body = await _read_body(intake)
        intake.model = await _find_model(intake, body)
        intake.metering = read_metering(intake.request.raw_headers)
    except ApiError as error:
        return Refused(error, "idempotency")
    try:
        demand, price = await _validated(intake, body, intake.model)
    except ApiError as error:
        return Refused(error, "access")
    try:
        sized = size(demand, intake.model, price, intake.metering.max_cost_microusd)
    except ApiError as error:
        return Refused(error, "hold")
    return Ready(sized, price, new_id("use"), new_id(intake.rules.id_prefix))


async def _read_body(intake: Intake) -> dict[str, Any]:
    _check_content_type(intake.request.raw_headers)
    body = await intake.request.read_body(intake.rules.body_max_bytes)
    intake.body_bytes = len(body)
    intake.is_large = is_large(body)
    return await strict_loads_async(body)


async def _find_model(intake: Intake, body: Mapping[str, Any]) -> ServedModel:
    name = body.get("model")
    if not isinstance(name, str) or not name:
        raise InvalidRequest("model must name a model.", param="model")
    principal = intake.verified.principal
    model = (await catalogue.current()).find(name, principal.client_id)
    if model is None:
        raise ModelNotFound(param="model")
    if not principal.allows(infer(name)):
        require_scope(frozenset(), infer(name))
    return model


async def _validated(intake: Intake, body: dict[str, Any], model: ServedModel) -> tuple[Demand, PriceVersion]:
    """Validate a body; a large one beside the event loop."""
    return await offload(_validate, intake, body, model) if intake.is_large else _validate(intake, body, model)


def _validate(intake: Intake, body: dict[str, Any], model: ServedModel) -> tuple[Demand, PriceVersion]:
    compact = canonical(body, intake.body_bytes)
    intake.digest = hashlib.sha256(compact).digest()
    rules = intake.rules
    if rules.route not in model.routes:
        raise InvalidRequest(f"{model.name} does not serve this route.", param="model")
    return rules.read(body, len(compact), model), _price_of(model, rules.route)


def _price_of(model: ServedModel, route: Route) -> PriceVersion:
    """Give the prices in force of a model that can be called, or raise ModelUnavailable."""
    price = model.price_at(datetime.now(UTC))
    if not model.is_served or price is None or not price.prices.serves(route):
        raise ModelUnavailable
    adapters = (adapter_named(deployment.upstream.adapter) for deployment in model.deployments)
    if not any(adapter and route in adapter.routes for adapter in adapters):
        raise ModelUnavailable
    return price


def _check_content_type(headers: list[tuple[bytes, bytes]]) -> None:
    sent = [value for name, value in headers if name == b"content-type"]
    media_type, _, parameters = sent[0].partition(b";") if len(sent) == 1 else (b"", b"", b"")
    charset = parameters.strip().lower().replace(b'"', b"").replace(b" ", b"")
    if media_type.strip().lower() != b"application/json" or charset not in (b"", b"charset=utf-8", b"charset=utf8"):
        raise UnsupportedMediaType(headers={"Accept": "application/json"})


def _joined(headers: list[tuple[bytes, bytes]]) -> dict[bytes, bytes]:
    """Map names to values; duplicates are joined by a comma, as servers do, for the proof's check to refuse."""
    joined: dict[bytes, bytes] = {}
    for name, value in headers:
        joined[name] = joined[name] + b", " + value if name in joined else value
    return joined
