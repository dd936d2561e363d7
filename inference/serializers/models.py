"""The wire format of models."""

from collections.abc import Iterable, Mapping
from typing import Any

from gateway.core.contract.aliases import Route
from inference.interface.model import ServedModel

OWNER = "account-gateway"
DEMO = "demo"


def render_model(
    model: ServedModel, routes: Iterable[Route], components: Mapping[str, Any], *, authorized: bool
) -> dict[str, Any]:
    """Render a model in the vendor's format, with the gateway's members. `routes` are those that the gateway serves;
    prices are micro-USD in the operator's notation."""
    adapters = {deployment.upstream.adapter for deployment in model.deployments}
    return {
        "id": model.name,
        "object": "model",
        "created": 0,
        "owned_by": DEMO if adapters == {DEMO} else OWNER,
        "routes": [route.value for route in routes],
        "pricing": dict(components),
        "authorized": authorized,
    }
