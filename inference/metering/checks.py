"""Everything about a metered request that can be decided without the database, in the order of checks.

A request that fails here still goes to the database once: its proof is taken, so that it serves no second time, and a
repeated request gets its first answer, whatever else is wrong with it by now.
"""

import time
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from accounts.authentication import Verified, verify
from accounts.queries import consents
from accounts.rules.principal import Principal
from billing.rules.prices import PriceError
from gateway.core.api.access import require_scope
from gateway.core.api.offload import offload
from gateway.core.contract.errors import ApiError, ConsentRequired, InvalidRequest, ModelNotFound, ModelUnavailable
from gateway.core.contract.ids import new_id
from gateway.core.contract.values import value_class
from inference.metering.route import Body, Headers, MeteredRequest, MeteredRoute, PendingRequest
from inference.queries import catalogue
from inference.rules.model import PriceVersion, ServedModel
from inference.rules.plan import endpoint_for
from inference.rules.request import BoundedRequest
from inference.rules.terms import Terms


@value_class(frozen=True, slots=True)
class Arrival:
    """A request whose proof and token hold."""

    http: MeteredRequest
    route: MeteredRoute[Any, Any]
    verified: Verified

    @property
    def principal(self) -> Principal:
        """Return who calls."""
        return self.verified.principal


@value_class(frozen=True, slots=True)
class Identified(Arrival):
    """A request of which it is known what it asks for, and by what a repeated one is recognised."""

    model: ServedModel
    terms: Terms
    digest: bytes


@value_class(frozen=True, slots=True)
class Checked(Identified):
    """A request that passed every check of the process: what is held, and what is sent."""

    price: PriceVersion
    request: BoundedRequest
    usage_id: str
    public_id: str
    is_admitted: bool = False  # its proof is taken already

    @property
    def needs_preparing(self) -> bool:
        """Return whether something must be got from elsewhere before it can be sent."""
        return self.route.prepare is not None and self.request.needs_preparing


@value_class(frozen=True, slots=True)
class Refused:
    """A request that failed, and before which step of the database's own checks that was."""

    error: ApiError
    arrival: Arrival
    stop_before: str


async def begin(http: MeteredRequest, route: MeteredRoute[Any, Any]) -> Arrival:
    """Check proof and token, or raise: where they fail, there is nothing to take."""
    path = http.raw_path.partition(b"?")[0].decode("latin-1")
    verified = await verify(http.method, path, _joined(http.raw_headers), time.time())
    return Arrival(http, route, verified)


async def check(arrival: Arrival) -> Checked | Refused:
    """Run the other checks in order. Raises nothing of the catalogue."""
    try:
        body = await arrival.route.read(arrival.http)
        model = await _find_model(arrival, body.model)
        terms = arrival.route.terms(arrival.http.raw_headers)
    except ApiError as error:
        return Refused(error, arrival, "idempotency")
    identified = Identified(arrival.http, arrival.route, arrival.verified, model, terms, body.digest)
    try:
        request = await _validated(arrival, body, model)
        able = await _able(arrival.route, body, model, request)
        price = _price_of(able, arrival.route)
    except ApiError as error:
        return Refused(error, identified, "access")
    return _bounded(identified if able is model else replace(identified, model=able), request, price)


async def _find_model(arrival: Arrival, name: str) -> ServedModel:
    principal = arrival.principal
    model = (await catalogue.current()).find(name, principal.client_id)
    if model is None:
        raise ModelNotFound(param="model")
    for scope in arrival.route.scopes(name):
        if not principal.allows(scope):
            require_scope(frozenset(), scope)
    return model


async def _validated(arrival: Arrival, body: Body, model: ServedModel) -> Any:
    """Return the route's own valid request; a large body is checked beside the event loop."""
    route = arrival.route
    if route.name not in model.routes:
        raise InvalidRequest(f"{model.name} does not serve this route.", param="model")
    if route.consent and not await consents.stands(arrival.principal, route.consent):
        raise ConsentRequired
    request = await offload(route.check, body, model) if body.is_large else route.check(body, model)
    if isinstance(request, PendingRequest):
        return await request.load(arrival.principal, arrival.http.take_memory)
    return request


async def _able(route: MeteredRoute[Any, Any], body: Body, model: ServedModel, request: Any) -> ServedModel:
    """Leave the model those of its deployments whose upstreams can be told the request, or raise why none can."""
    if all(deployment.upstream.routes is None for deployment in model.deployments):
        return model
    is_large = body.is_large or request.is_large
    able = await offload(_told, route, model, request) if is_large else _told(route, model, request)
    if isinstance(able, ApiError):
        raise able
    return able


def _told(route: MeteredRoute[Any, Any], model: ServedModel, request: Any) -> ServedModel | ApiError:
    refusals = {
        deployment.id: endpoint.refusal(request)
        for deployment in model.deployments
        if (endpoint := endpoint_for(route.name, route.endpoints, deployment))
    }
    able = tuple(at for at in model.deployments if at.id in refusals and refusals[at.id] is None)
    if not able and (refusal := next(iter(refusals.values()), None)):
        return refusal
    return replace(model, deployments=able)


def _bounded(identified: Identified, request: Any, price: PriceVersion) -> Checked | Refused:
    http, route, verified = identified.http, identified.route, identified.verified
    model, terms = identified.model, identified.terms
    try:
        bounded = route.bound(request, model, price, terms.max_cost_microusd)
    except ApiError as error:
        return Refused(error, identified, "hold")
    except PriceError as error:
        return Refused(ModelUnavailable(private=str(error)), identified, "hold")
    ids = new_id("use"), new_id(route.id_prefix)
    return Checked(http, route, verified, model, terms, identified.digest, price, bounded, *ids)


def price_in_force(model: ServedModel, route: MeteredRoute[Any, Any]) -> PriceVersion | None:
    """Return the prices in force of a model that the route can be called with now, else None."""
    price = model.price_at(datetime.now(UTC))
    if not model.is_served or price is None or not price.prices.serves(route.name):
        return None
    if not any(endpoint_for(route.name, route.endpoints, deployment) for deployment in model.deployments):
        return None
    return price


def _price_of(model: ServedModel, route: MeteredRoute[Any, Any]) -> PriceVersion:
    price = price_in_force(model, route)
    if price is None:
        raise ModelUnavailable
    return price


def _joined(headers: Headers) -> dict[bytes, bytes]:
    """Map names to values; duplicates are joined by a comma, as servers do, for the proof's check to refuse."""
    joined: dict[bytes, bytes] = {}
    for name, value in headers:
        joined[name] = joined[name] + b", " + value if name in joined else value
    return joined
