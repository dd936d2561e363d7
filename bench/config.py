"""The gateway.yaml of a run: one product, one upstream under three names, its models, and credit for every customer."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import yaml

from bench.identity import Customer, Product

INPUT_PRICE = "0.15"
OUTPUT_PRICE = "0.60"
"""Micro-USD per token, as fractions, so that every charge is rounded."""
GRANT_MICROUSD = 900_000_000

PLAIN = "fast"
PATIENT = "balanced"
DRIPPING = "reasoning"
MODELS = {
    PLAIN: "small-1",
    PATIENT: "small-1?delay_ms=1500",
    DRIPPING: "small-1?tokens=60&token_delay_ms=400",
}
"""The upstream model of each alias: responds at once, after a delay, or over 24 seconds."""

FULL = "full"
FULL_MODEL = "small-1?cached_tokens=7&cache_write_tokens=20&cache_write_1h_tokens=5"
FULL_PRICE: Mapping[str, Any] = {
    "input_token": "0.15",
    "cached_input_token": "0.015",
    "cache_write_token": "0.1875",
    "cache_write_1h_token": "0.3",
    "output_token": "0.60",
    "bands": [{"above_input_tokens": 100, "input_token": "0.30", "cached_input_token": "0.03", "output_token": "0.90"}],
    "service_tiers": {
        "flex": {"input_token": "0.075", "output_token": "0.30"},
        "priority": {
            "input_token": "0.25",
            "output_token": "1",
            "bands": [{"above_input_tokens": 100, "output_token": "1.5"}],
        },
    },
}
"""An alias that is priced by tier, by the length of the input and by what caches did, which its upstream model reports."""

PLAIN_MESSAGES = "fast-messages"
"""The alias of the model that responds at once, at the upstream that is called in the Messages format."""

LIMITED = "limited"
LIMITED_CUSTOMER = "limited"
AMPLE = {"requests_per_minute": 10**9, "tokens_per_minute": 10**9, "concurrent": 10**9}
"""The limits of one account, and of an alias that all accounts share: they count every call and refuse none."""

LONG_TOKENS = 400
LONG_MODEL = f"small-1?tokens={LONG_TOKENS}"
LONG = "long"
LONG_OVER_CHAT = "long-over-chat"
LONG_OVER_RESPONSES = "long-over-responses"
LONG_OVER_MESSAGES = "long-over-messages"
LONG_AT: Mapping[str, Mapping[str, Any]] = {
    LONG: {"name": "bench"},
    LONG_OVER_CHAT: {"name": "bench-chat", "routes": ["chat.completions"]},
    LONG_OVER_RESPONSES: {"name": "bench-responses", "routes": ["responses"]},
    LONG_OVER_MESSAGES: {"name": "bench-messages", "adapter": "anthropic"},
}
"""The aliases with long responses, and the upstream of each, which may support only one text route."""

PACED = "paced"
PACED_MODEL = "paced-1"
PACED_DELTAS = 64
PACE_SECONDS = 0.02
"""The alias whose streams deliver so many deltas, one after each of these pauses (`bench.paced_upstream`)."""


def gateway_configuration(
    *,
    product: Product,
    upstream_url: str,
    upstream_key: str,
    customers: Iterable[Customer],
    translates: bool = True,
    paced_url: str | None = None,
) -> dict[str, Any]:
    """Build the gateway's configuration. For older versions without translation it omits the upstreams' routes, the alias that is
    priced in full, the one of messages, and the rate limits. `paced_url` is the upstream of the alias with paced streams, if there is one."""
    long_at = {alias: at for alias, at in LONG_AT.items() if translates or at["name"] == "bench"}
    return {
        **product.configuration(),
        "upstreams": [
            {"adapter": "openai", "base_url": upstream_url, "api_key": upstream_key, **named}
            for named in long_at.values()
        ]
        + ([_paced_upstream(paced_url, upstream_key)] if paced_url else []),
        "aliases": [
            *(_alias(name, model) for name, model in MODELS.items()),
            *(_alias(name, LONG_MODEL, upstream["name"]) for name, upstream in long_at.items()),
            *(_translated() if translates else []),
            _alias(LIMITED, MODELS[PLAIN]),
            *([_alias(PACED, PACED_MODEL, PACED)] if paced_url else []),
        ],
        **({"limits": _limits()} if translates else {}),
        "credits": [credit(customer, GRANT_MICROUSD) for customer in customers],
    }


def _translated() -> list[dict[str, Any]]:
    """Return the aliases that older versions cannot have."""
    at_messages = LONG_AT[LONG_OVER_MESSAGES]["name"]
    priced = {**_alias(FULL, FULL_MODEL), "price": dict(FULL_PRICE)}
    return [priced, _alias(PLAIN_MESSAGES, MODELS[PLAIN], at_messages)]


def _paced_upstream(base_url: str, api_key: str) -> dict[str, Any]:
    return {"name": PACED, "adapter": "openai", "base_url": base_url, "api_key": api_key}


def _limits() -> list[dict[str, Any]]:
    account = {"scope": "account", "subject": Customer(LIMITED_CUSTOMER).did}
    return [{**account, **AMPLE}, {"scope": "alias", "subject": LIMITED, **AMPLE}]


def credit(customer: Customer, amount_microusd: int) -> dict[str, Any]:
    """Describe one grant."""
    return {"account": customer.did, "amount_microusd": amount_microusd, "key": f"bench-{customer.name}"}


def write(path: Path, configuration: Mapping[str, Any]) -> Path:
    """Write a configuration file."""
    path.write_text(yaml.safe_dump(dict(configuration), sort_keys=False))
    return path


def _alias(name: str, model: str, upstream: str = "bench") -> dict[str, Any]:
    return {
        "name": name,
        "enabled": True,
        "max_output_tokens": 4096,
        "context_tokens": 128000,
        "deployments": [{"upstream": upstream, "model": model, "priority": 0, "weight": 1}],
        "price": {"input_token": INPUT_PRICE, "output_token": OUTPUT_PRICE},
    }
