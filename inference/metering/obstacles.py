"""Explains to operators why a model cannot be called on its routes.

`price_in_force` makes the same decision for a call, without the reasons: it finds a price exactly if a route has no obstacle.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from billing.rules.prices import PriceList
from gateway.core.contract.aliases import NEVER_SERVED, Route
from inference.interface.plan import endpoint_of
from inference.metering.route import MeteredRoute
from inference.metering.served import routes
from inference.models import Alias, RawModel, Upstream
from inference.queries.rows import fault_of, known_routes

Model = Alias | RawModel


@dataclass(frozen=True, slots=True)
class RouteState:
    """One route of a model: its path, or its name if not `is_here`, and the obstacles to calling it."""

    path: str
    obstacles: tuple[str, ...]
    is_here: bool = True


@dataclass(frozen=True, slots=True)
class UnsoldRoute:
    """A route of a model that a price does not cover, and the components that it lacks."""

    model: str
    name: Route
    path: str
    missing: tuple[str, ...]

    def __str__(self) -> str:
        return f"this price has no {' and no '.join(self.missing)}: {self.path} cannot be called with `{self.model}`"


def states_of(model: Model, prices: PriceList | None) -> list[RouteState]:
    """Return the state of each route of a model at the `prices`, or without a price if it is None."""
    served = routes()
    shared = _of_model(model)
    states = []
    for name in model.served_routes():
        if name in served:
            route, path = served[name]
            found = (*shared, *_of_price(prices, name), *_of_deployments(model, route))
        else:
            path, found = name, ("this gateway does not have this route",)
        states.append(RouteState(path, found, name in served))
    return states


def unsold_routes(model: Model, prices: PriceList) -> list[UnsoldRoute]:
    """List the routes that could not be called at these prices. A disabled model has none."""
    served = routes()
    names = [name for name in model.served_routes() if name in served] if model.enabled else []
    if Route.CHAT_COMPLETIONS in names and Route.MESSAGES in names:
        names.remove(Route.MESSAGES)  # the same model under another name, at the same price
    return [
        UnsoldRoute(str(model), name, served[name][1], missing) for name in names if (missing := prices.missing(name))
    ]


def _of_model(model: Model) -> Iterable[str]:
    if str(model) in NEVER_SERVED:
        yield "this name is reserved and never served"
    if not model.enabled:
        yield "the model is disabled"


def _of_price(prices: PriceList | None, name: Route) -> Iterable[str]:
    if prices is None:
        yield "there is no price"
    elif missing := prices.missing(name):
        yield f"the price has no {' and no '.join(missing)}"


def _of_deployments(model: Model, route: MeteredRoute[Any, Any]) -> tuple[str, ...]:
    """Return the fault of each deployment, or nothing if one can serve."""
    faults = [_fault(name, enabled, upstream, route) for name, enabled, upstream in _ways(model)]
    if not faults:
        return ("there is no deployment",)
    return () if None in faults else tuple(dict.fromkeys(filter(None, faults)))


def _ways(model: Model) -> list[tuple[str, bool, Upstream]]:
    if isinstance(model, RawModel):
        return [(str(model), True, model.upstream)]
    return [(f"{each.upstream}/{each.model}", each.enabled, each.upstream) for each in model.deployments.all()]


def _fault(name: str, is_enabled: bool, upstream: Upstream, route: MeteredRoute[Any, Any]) -> str | None:
    if not is_enabled:
        return f"deployment {name} is disabled"
    if fault := fault_of(upstream):
        return fault
    if endpoint_of(route.name, route.endpoints, upstream.adapter, None) is None:
        return f"the adapter {upstream.adapter} of upstream {upstream} does not serve this route"
    if endpoint_of(route.name, route.endpoints, upstream.adapter, known_routes(upstream)) is None:
        return f"upstream {upstream} supports neither this route nor one that it is translated to"
    return None
