"""What this gateway serves: the metered routes that have an address, and the models that can be called on them."""

from typing import Any

from gateway.core.api.url_map import actions
from gateway.core.contract.aliases import Route
from inference.metering.checks import price_in_force
from inference.metering.route import MeteredRoute
from inference.metering.viewset import MeteredViewSet
from inference.queries import catalogue
from inference.rules.model import ServedModel


def routes_of(model: ServedModel) -> list[Route]:
    """Name the routes of a model that this gateway has, in the model's order."""
    names = {route.name for route in _routes()}
    return [route for route in model.routes if route in names]


def callable_aliases() -> list[str]:
    """Name the aliases that some route can be called with now: deployed and priced for it."""
    models = catalogue.current_sync().models.values()
    routes = _routes()
    return [
        model.name
        for model in models
        if model.issuers is None
        and any(route.name in model.routes and price_in_force(model, route) for route in routes)
    ]


def _routes() -> list[MeteredRoute[Any, Any]]:
    return [view_class.route for view_class, _ in actions() if issubclass(view_class, MeteredViewSet)]
