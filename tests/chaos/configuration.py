"""The gateway.yaml of a run: bench's product and upstream, the models, and money for every payer."""

from collections.abc import Iterable
from typing import Any

from bench.config import gateway_configuration
from bench.identity import CAPABILITIES, Customer, ProductServer
from bench.servers import UPSTREAM_KEY
from tests.chaos.models import MODELS, alias

UPSTREAM_TIMEOUT_SECONDS = 4.0
"""Far less than a client's patience, so that an upstream that hangs is no excuse for a late answer."""

MANAGING = ("orgs:read", "orgs:manage", "products:manage", "seats:manage", "budgets:manage")
GRANT_MICROUSD = 500_000_000
SMALL_GRANT_MICROUSD = 2_000
"""For some fifty calls: then a wallet is empty, and must refuse."""


def product_server() -> ProductServer:
    """Make the product's own server, which may hand out what founding an organization takes."""
    return ProductServer([*CAPABILITIES, *MANAGING])


def configuration(
    product: ProductServer, upstream_url: str, rich: Iterable[Customer], poor: Iterable[Customer]
) -> dict[str, Any]:
    """Describe the whole run to the gateway."""
    whole = gateway_configuration(
        jwks=product.jwks, upstream_url=f"{upstream_url}/v1", upstream_key=UPSTREAM_KEY, customers=()
    )
    whole["integrations"][0]["capabilities"] = product.capabilities
    whole["upstreams"][0]["timeout_seconds"] = UPSTREAM_TIMEOUT_SECONDS
    whole["aliases"] = [alias(model) for model in MODELS]
    granted = [(customer, GRANT_MICROUSD) for customer in rich] + [(each, SMALL_GRANT_MICROUSD) for each in poor]
    whole["credits"] = [
        {"account": customer.did, "amount_microusd": amount, "key": f"chaos-{customer.name}"}
        for customer, amount in granted
    ]
    return whole
