"""Lists the metered routes that have a path in this gateway, and the models that can be called on them."""

from typing import Any

from gateway.core.api.url_map import addresses
from gateway.core.contract.aliases import Route
from inference.interface.model import ServedModel
from inference.metering.admission import price_in_force
from inference.metering.route import MeteredRoute
from inference.metering.serving import MeteredViewSet
from inference.queries import catalogue


def routes_of(model: ServedModel) -> list[Route]:
    """Return the routes of a model that this gateway has, in the model's order."""
    served = routes()
    return [route for route in model.routes if route in served]


def callable_aliases() -> list[str]:
    """Return the aliases that at least one route can be called with now: deployed and priced for it."""
    models = catalogue.current_sync().models.values()
    served = [route for route, _ in routes().values()]
    return [
        model.name
        for model in models
        if model.issuers is None
        and any(route.name in model.routes and price_in_force(model, route) for route in served)
    ]


def routes() -> dict[Route, tuple[MeteredRoute[Any, Any], str]]:
    """Map the name of every metered route that has a path to the route and that path."""
    return {
        view_class.route.name: (view_class.route, path)
        for path, view_class, _ in addresses()
        if issubclass(view_class, MeteredViewSet)
    }
