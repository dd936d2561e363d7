"""What an operator of the journeys' gateway configures."""

import json
from collections.abc import Mapping
from typing import Any

from tests.journeys.caller import AUDIENCE, DID_PREFIX, ISSUER, Key
from tests.support.database import make_home
from tests.support.gateways import ForkedGateway
from tests.support.upstream import FakeUpstream

CAPABILITIES = ["wallet:read", "usage:read", "billing:checkout", "infer:*"]
PRICE = {"input_token": "0.15", "cached_input_token": "0.075", "output_token": "0.60"}


def configuration(upstream: FakeUpstream, product_key: Key, grants: dict[str, int]) -> dict[str, Any]:
    """Write what an operator would: one product, one upstream, two aliases, and a credit for each account."""
    return {
        "products": [{"slug": "studio", "name": "Studio", "seat_price_microusd": 20_000_000}],
        "integrations": [
            {
                "product": "studio",
                "issuer": ISSUER,
                "audience": AUDIENCE,
                "did_prefix": DID_PREFIX,
                "capabilities": CAPABILITIES,
                "jwks": {"keys": [{**product_key.jwk, "kid": "k1"}]},
            }
        ],
        "upstreams": [
            {"name": "primary", "adapter": "openai", "base_url": upstream.base_url, "api_key": "sk-upstream"}
        ],
        "aliases": [
            _alias("fast", "small-1", PRICE, max_output_tokens=4096, context_tokens=128_000),
            _alias("embedding", "embed-1", {"input_token": "0.02"}, context_tokens=8192),
            _alias("realtime", "live-1", PRICE),
        ],
        "credits": [
            {"account": DID_PREFIX + name, "amount_microusd": amount, "key": f"welcome-{name}"}
            for name, amount in grants.items()
        ],
    }


def _alias(name: str, model: str, price: dict[str, str], **settings: Any) -> dict[str, Any]:
    deployments = [{"upstream": "primary", "model": model, "priority": 0, "weight": 1}]
    return {"name": name, "enabled": True, "deployments": deployments, "price": price, **settings}


def configured_gateway(config: dict[str, Any], settings: Mapping[str, str]) -> ForkedGateway:
    """Return a gateway of this configuration that is to be started."""
    file = make_home() / "gateway.yaml"
    file.write_text(json.dumps(config))  # JSON is YAML
    return ForkedGateway(settings={"GATEWAY_CONFIG": str(file), **settings})
