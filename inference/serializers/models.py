"""How a model is shown."""

from typing import Any

from billing.rules.prices import PICO_PER_MICRO, PriceBook
from inference.rules.model import ServedModel

OWNER = "account-gateway"
DEMO = "demo"


def render_model(model: ServedModel, prices: PriceBook | None, *, authorized: bool) -> dict[str, Any]:
    """Render a model in the vendor's shape, with what is ours beside it. Prices are micro-USD as decimal strings."""
    adapters = {deployment.upstream.adapter for deployment in model.deployments}
    return {
        "id": model.name,
        "object": "model",
        "created": 0,
        "owned_by": DEMO if adapters == {DEMO} else OWNER,
        "routes": [route.value for route in model.routes],
        "pricing": _pricing(prices) if prices else {},
        "authorized": authorized,
    }


def _pricing(prices: PriceBook) -> dict[str, Any]:
    shown: dict[str, Any] = {component: _decimal(price) for component, price in prices.prices.items()}
    if prices.images:
        shown["image"] = {kind: _decimal(price) for kind, price in prices.images.items()}
    return shown


def _decimal(pico: int) -> str:
    whole, rest = divmod(pico, PICO_PER_MICRO)
    return f"{whole}.{rest:06}".rstrip("0").rstrip(".")
