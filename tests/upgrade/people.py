"""The product, its customers, and the gateway's configuration of a run."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import orjson

from account_gateway_client.proofs import dpop_proof
from bench.identity import TOKEN_AGE_SECONDS, Customer, Product
from bench.servers import UPSTREAM_KEY
from tests.upgrade.site import BASE_URL

CAPABILITIES = ("wallet:read", "usage:read", "infer:*", "realtime:connect")
MAX_COST_MICROUSD = 1_000_000
GRANT_MICROUSD = 900_000_000
CUSTOMERS = 7

QUICK, SLOW, SHORT, LONG, LIVE = "quick", "slow", "short", "long", "realtime"
PRICE = {"input_token": "0.15", "output_token": "0.60"}
LIVE_PRICE = {
    "input_token": "4",
    "cached_input_token": "0.4",
    "output_token": "16",
    "input_audio_token": "32",
    "output_audio_token": "64",
}
MODELS: Mapping[str, str] = {
    QUICK: "small-1?delay_ms=50",
    SLOW: "small-1?delay_ms=15000",
    SHORT: "small-1?tokens=12&token_delay_ms=100",
    LONG: "small-1?tokens=80&token_delay_ms=300",
}
"""The upstream's model of each alias. `slow` and `long` take longer than DRAIN_SECONDS, so that a server's end must cut them.
`realtime` serves live sessions by its name."""


def product() -> Product:
    """Build the product's server, whose customers may open live sessions."""
    return Product(CAPABILITIES, consents=["realtime"])


def customers() -> list[Customer]:
    """Build the customers of the load, and as the last one the customer with whom nodes are compared."""
    return [Customer(f"customer-{number}") for number in range(CUSTOMERS)]


def configuration(of: Product, paying: Sequence[Customer]) -> dict[str, Any]:
    """Build gateway.yaml, which both versions must read; the upstreams' addresses are still to come."""
    return {
        **of.configuration(),
        "upstreams": [
            {"name": "text", "adapter": "openai", "api_key": UPSTREAM_KEY, "timeout_seconds": 60},
            {"name": "live", "adapter": "realtime", "api_key": UPSTREAM_KEY},
        ],
        "aliases": [
            *(_alias(name, model) for name, model in MODELS.items()),
            _alias(LIVE, "live-1", "live", LIVE_PRICE),
        ],
        "credits": [
            {"account": each.did, "amount_microusd": GRANT_MICROUSD, "key": f"upgrade-{each.name}"} for each in paying
        ],
    }


def _alias(name: str, model: str, upstream: str = "text", price: Mapping[str, str] = PRICE) -> dict[str, Any]:
    return {
        "name": name,
        "enabled": True,
        "max_output_tokens": 4096,
        "context_tokens": 128000,
        "deployments": [{"upstream": upstream, "model": model, "priority": 0, "weight": 1}],
        "price": dict(price),
    }


@dataclass(slots=True)
class Person:
    """A customer with a token that is replaced before it ends."""

    customer: Customer
    product: Product

    def needs_token(self) -> bool:
        """Return whether the token is missing or old."""
        return not self.customer.token or time.monotonic() - self.customer.token_at > TOKEN_AGE_SECONDS

    def assertion(self) -> bytes:
        """Return the body of an exchange."""
        return orjson.dumps({"assertion": self.product.assertion(self.customer), "dpop_jwk": self.customer.key.jwk})

    def take(self, answer: bytes) -> None:
        """Keep the token of an exchange's answer."""
        self.customer.token, self.customer.token_at = orjson.loads(answer)["access_token"], time.monotonic()

    def headers(self, method: str, path: str, key: str = "") -> dict[str, str]:
        """Build the headers of a request, with a new proof; with a key, those of a metered call."""
        url, token = BASE_URL + path.partition("?")[0], self.customer.token
        headers = {
            "Authorization": f"DPoP {token}",
            "DPoP": dpop_proof(self.customer.key, method, url, access_token=token),
        }
        if key:
            headers |= {"Idempotency-Key": key, "x-service-max-cost-microusd": str(MAX_COST_MICROUSD)}
        return headers
