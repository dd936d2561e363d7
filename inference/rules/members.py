"""Body members that a metered route refuses, because they could change what a call costs or where it goes.

Whatever is not named here passes upstream as it came: a vendor's harmless novelties work without a new release.
"""

from collections.abc import Mapping
from typing import Any

from gateway.core.contract.errors import InvalidRequest

# Where the call goes and under whose name: the gateway's own business.
ROUTING = frozenset(
    {
        "api_base",
        "api_key",
        "api_version",
        "azure_endpoint",
        "base_url",
        "custom_llm_provider",
        "deployment_id",
        "extra_body",
        "extra_headers",
        "extra_query",
        "fallbacks",
        "headers",
        "model_list",
        "models",
        "num_retries",
        "organization",
        "plugins",
        "preset",
        "priority",
        "project",
        "provider",
        "route",
        "router",
        "timeout",
        "transforms",
    }
)

# Work or tiers that the price of a token does not cover.
COSTLY = frozenset(
    {
        "audio",
        "background",
        "best_of",
        "cache_control",
        "inference_geo",
        "mcp_servers",
        "prediction",
        "speed",
        "use_beam_search",
        "web_search",
        "web_search_options",
    }
)

ORDINARY_TIERS = frozenset({None, "auto", "default"})


def refuse_members(body: Mapping[str, Any]) -> None:
    """Raise InvalidRequest naming the first member that could change cost or routing; one that is null asks nothing."""
    for name in body:
        if (name in ROUTING or name in COSTLY) and body[name] is not None:
            raise InvalidRequest(f"{name} is not supported here.", param=name)
    tier = body.get("service_tier")
    if not (tier is None or (isinstance(tier, str) and tier in ORDINARY_TIERS)):
        raise InvalidRequest("service_tier must be auto or default.", param="service_tier")
    if body.get("store") not in (None, False):
        raise InvalidRequest("Nothing is stored at the model's provider.", param="store")


def read_flag(body: Mapping[str, Any], name: str) -> bool:
    """Read an optional boolean member, or raise InvalidRequest."""
    value = body.get(name)
    if value is None or isinstance(value, bool):
        return bool(value)
    raise InvalidRequest(f"{name} must be true or false.", param=name)


def read_count(body: Mapping[str, Any], name: str, *, most: int) -> int | None:
    """Read an optional whole number from 1 to `most`, or raise InvalidRequest."""
    value = body.get(name)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= most:
        raise InvalidRequest(f"{name} must be a whole number from 1 to {most}.", param=name)
    return value
