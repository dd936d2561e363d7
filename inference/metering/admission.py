"""The first step of a metered call: checks its request without the ledger, in the contract's order of checks.

A request that fails here still makes one call to the database: its proof is recorded, so that it cannot be used again, and a
repeated request gets its first answer, even if other checks of it fail by now.
"""

import time
from dataclasses import field, replace
from datetime import UTC, datetime
from typing import Any

from accounts.authentication import verify
from accounts.queries import consents
from accounts.rules.dpop import ProofTicket
from accounts.rules.principal import Principal
from billing.rules.prices import PriceError, PriceList
from gateway.core.api.access import require_scope
from gateway.core.contract.errors import ApiError, ConsentRequired, InvalidRequest, ModelNotFound, ModelUnavailable
from gateway.core.contract.ids import new_id
from gateway.core.contract.values import value_class
from gateway.core.runtime.offload import offload
from gateway.core.telemetry.observation import Observation, Step
from inference.interface.model import DeploymentTarget, PriceVersion, ServedModel
from inference.interface.plan import can_serve, endpoint_for
from inference.interface.request import BoundedRequest
from inference.metering import observing, uncharged
from inference.metering.limits import RequestLimits
from inference.metering.route import Body, Headers, MeteredRequest, MeteredRoute, PendingRequest
from inference.queries import catalogue
from inference.rules.terms import Terms


@value_class(frozen=True, slots=True)
class Arrival:
    """A request with a valid proof and token, its caller, the ticket that records the proof, the rate limits that apply, and what
    is observed of it."""

    http: MeteredRequest
    route: MeteredRoute[Any, Any]
    principal: Principal
    ticket: ProofTicket
    limits: RequestLimits
    observation: Observation = field(compare=False, repr=False)


@value_class(frozen=True, slots=True)
class Identity:
    """What a repeated request has in common with the first: the key among its terms, and the digest of its body. The body as
    it was sent may differ in its spelling."""

    terms: Terms
    digest: bytes
    body_sha256: bytes | None


@value_class(frozen=True, slots=True)
class Checked:
    """A request that passed all checks outside the ledger: what is held, and what is sent where."""

    arrival: Arrival
    identity: Identity
    model: ServedModel
    price: PriceVersion
    request: BoundedRequest
    usage_id: str
    public_id: str
    is_admitted: bool = False  # its proof is already recorded


@value_class(frozen=True, slots=True)
class Refused:
    """A request that failed a check, and the step of the database's checks that the failure precedes. It has no identity
    if it failed before that was known."""

    error: ApiError
    stop_before: str
    arrival: Arrival
    identity: Identity | None = None
    is_admitted: bool = False  # as in Checked


async def authenticate(http: MeteredRequest, route: MeteredRoute[Any, Any], observation: Observation) -> Arrival:
    """Check proof and token. Raises if they are invalid, or RateLimited after too many uncharged calls; there is then no proof to
    record.
    """
    path = http.raw_path.partition(b"?")[0].decode("latin-1")
    verified = await verify(http.method, path, _joined(http.raw_headers), time.time())
    principal = verified.principal
    observing.authenticated(observation, principal)
    uncharged.check(principal)
    limits = RequestLimits(principal)
    return Arrival(http, route, principal, verified.ticket, limits, observation)


async def check(arrival: Arrival) -> Checked | Refused:
    """Run the other checks in order. Catalogue errors are returned as Refused, not raised."""
    try:
        limits = (await catalogue.current()).limits
        arrival.limits.apply(limits)
        body = await arrival.route.read(arrival.http)
        arrival.observation.mark(Step.RECEIVED)
        model = await find_model(arrival, body.model)
        arrival.limits.apply(limits, model.name)
        terms = arrival.route.terms(arrival.http.raw_headers)
        identity = Identity(terms=terms, digest=body.digest, body_sha256=body.body_sha256)
    except ApiError as error:
        return Refused(error, "idempotency", arrival)
    try:
        request = await _validated(arrival, body, model)
        able = await _narrowed(arrival.route, body, model, request)
        price = _price_of(able, arrival.route)
    except ApiError as error:
        return Refused(error, "access", arrival, identity)
    return _bounded(arrival, identity, able, request, price)


def _bounded(
    arrival: Arrival, identity: Identity, model: ServedModel, request: Any, price: PriceVersion
) -> Checked | Refused:
    try:
        bounded = arrival.route.bound(request, model, price, identity.terms.max_cost_microusd)
    except ApiError as error:
        return Refused(error, "hold", arrival, identity)
    except PriceError as error:
        return Refused(ModelUnavailable(private=str(error)), "hold", arrival, identity)
    return Checked(
        arrival=arrival,
        identity=identity,
        model=model,
        price=price,
        request=bounded,
        public_id=bounded.public_id or new_id(arrival.route.id_prefix),
        usage_id=new_id("use"),
    )


async def find_model(arrival: Arrival, name: str) -> ServedModel:
    """Return the model of this name. Raises ModelNotFound, or InsufficientScope unless the token may call it on this route."""
    principal = arrival.principal
    model = (await catalogue.current()).find(name, principal.client_id)
    if model is None:
        raise ModelNotFound(param="model")
    arrival.observation.model = model.name
    for scope in arrival.route.scopes(name):
        if not principal.allows(scope):
            require_scope(frozenset(), scope)
    return model


def check_route(route: MeteredRoute[Any, Any], model: ServedModel) -> None:
    """Raise InvalidRequest if the model does not serve the route."""
    if route.name not in model.routes:
        raise InvalidRequest(f"{model.name} does not serve this route.", param="model")


async def _validated(arrival: Arrival, body: Body, model: ServedModel) -> Any:
    """Return the route's valid request. A large body is checked outside the event loop."""
    route = arrival.route
    check_route(route, model)
    if route.consent and not await consents.is_given(arrival.principal, route.consent):
        raise ConsentRequired
    request = await offload(route.check, body, model) if body.is_large else route.check(body, model)
    if isinstance(request, PendingRequest):
        request = await request.load(arrival.principal, arrival.http.take_memory)
    if route.check_prices is not None:
        price = model.price_at(datetime.now(UTC))
        route.check_prices(request, price.prices if price else PriceList())
    return request


async def _narrowed(route: MeteredRoute[Any, Any], body: Body, model: ServedModel, request: Any) -> ServedModel:
    """Return the model with only the deployments whose upstreams can express the request. Raises if there are none."""
    if not any(_translates(route, deployment) for deployment in model.deployments):
        return model
    is_large = body.is_large or request.is_large
    able = await offload(_narrow, route, model, request) if is_large else _narrow(route, model, request)
    if isinstance(able, ApiError):
        raise able
    return able


def _translates(route: MeteredRoute[Any, Any], deployment: DeploymentTarget) -> bool:
    """Return whether a deployment is called on another route than this one, or cannot be called on it."""
    endpoint = endpoint_for(route.name, route.endpoints, deployment)
    return endpoint is None or endpoint.translates


def _narrow(route: MeteredRoute[Any, Any], model: ServedModel, request: Any) -> ServedModel | ApiError:
    refusals = {
        deployment.id: endpoint.refusal(request)
        for deployment in model.deployments
        if (endpoint := endpoint_for(route.name, route.endpoints, deployment))
    }
    able = tuple(at for at in model.deployments if at.id in refusals and refusals[at.id] is None)
    if not able and (refusal := next(iter(refusals.values()), None)):
        return refusal
    return replace(model, deployments=able)


def price_in_force(model: ServedModel, route: MeteredRoute[Any, Any]) -> PriceVersion | None:
    """Return the model's current price version if the route can be called with the model now, else None."""
    price = model.price_at(datetime.now(UTC))
    if not model.is_served or price is None or not price.prices.serves(route.name):
        return None
    return price if can_serve(route.name, route.endpoints, model.deployments) else None


def _price_of(model: ServedModel, route: MeteredRoute[Any, Any]) -> PriceVersion:
    price = price_in_force(model, route)
    if price is None:
        raise ModelUnavailable
    return price


def _joined(headers: Headers) -> dict[bytes, bytes]:
    """Map names to values. Duplicates are joined by a comma, as servers do, so that the proof check refuses them."""
    joined: dict[bytes, bytes] = {}
    for name, value in headers:
        joined[name] = joined[name] + b", " + value if name in joined else value
    return joined
