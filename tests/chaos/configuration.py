"""The gateway.yaml of a run: bench's product and upstream, the models, and credit for every payer."""

from collections.abc import Iterable
from typing import Any

from bench.config import gateway_configuration
from bench.identity import CAPABILITIES, Customer, Product
from bench.servers import UPSTREAM_KEY
from tests.chaos.models import MODELS, alias

UPSTREAM_TIMEOUT_SECONDS = 4.0
"""Far less than a client's timeout, so that a hanging upstream is no excuse for a late response."""

MANAGING = ("orgs:read", "orgs:manage", "products:manage", "seats:manage", "budgets:manage")
GRANT_MICROUSD = 500_000_000
SMALL_GRANT_MICROUSD = 2_000
"""Enough for about fifty calls: then a wallet is empty, and must refuse."""


def product_server() -> Product:
    """Build the product's server, with the capabilities needed to create an organization."""
    return Product([*CAPABILITIES, *MANAGING])


def configuration(
    product: Product, upstream_url: str, rich: Iterable[Customer], poor: Iterable[Customer]
) -> dict[str, Any]:
    """Build the gateway's configuration for the run."""
    whole = gateway_configuration(
        product=product, upstream_url=f"{upstream_url}/v1", upstream_key=UPSTREAM_KEY, customers=()
    )
    whole["upstreams"][0]["timeout_seconds"] = UPSTREAM_TIMEOUT_SECONDS
    whole["aliases"] = [alias(model) for model in MODELS]
    granted = [(customer, GRANT_MICROUSD) for customer in rich] + [(each, SMALL_GRANT_MICROUSD) for each in poor]
    whole["credits"] = [
        {"account": customer.did, "amount_microusd": amount, "key": f"chaos-{customer.name}"}
        for customer, amount in granted
    ]
    return whole
