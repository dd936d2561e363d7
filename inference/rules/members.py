"""How a metered route treats the members of a body: passed upstream, bounded by the hold, or refused.

Each route has its own table, a dict of `Member` by name. On routes in a vendor's shape, members that no table names pass
upstream unchanged, so that a vendor's new harmless members work without a new release; elsewhere they are refused.
"""

from collections.abc import Mapping
from enum import StrEnum
from typing import Any, NamedTuple

from gateway.core.contract.errors import InvalidRequest


class Treatment(StrEnum):
    """The treatment of a member."""

    PASSED = "passed"  # sent upstream unchanged
    BOUNDED = "bounded"  # sent upstream, and the hold covers the most that it can cost
    REFUSED = "refused"  # 400 with the member's name


class Member(NamedTuple):
    """One row of a table. `reason` is a sentence or two for documentation. A refused member may still have one of the
    `allowed` values, which change nothing; null is always accepted, because it requests nothing."""

    treatment: Treatment
    reason: str
    allowed: tuple[Any, ...] = ()

    @property
    def explanation(self) -> str:
        """Return the reason, with the accepted values, in Markdown."""
        return f"{self.reason} Only `{'` or `'.join(self._words)}` is accepted." if self.allowed else self.reason

    @property
    def allowed_words(self) -> str:
        """Return the accepted values as JSON."""
        return " or ".join(self._words)

    @property
    def _words(self) -> list[str]:
        return [str(value).lower() for value in self.allowed]


def _refused(reason: str, *names: str) -> dict[str, Member]:
    return {name: Member(Treatment.REFUSED, reason) for name in names}


# The destination of the call and the caller's identity, which the gateway decides.
ROUTING = _refused(
    "The gateway decides where a call goes.",
    "api_base",
    "api_key",
    "api_version",
    "azure_endpoint",
    "base_url",
    "bootstrap_host",
    "bootstrap_port",
    "bootstrap_room",
    "cached_content",
    "custom_llm_provider",
    "data_parallel_rank",
    "data_sources",
    "deployment_id",
    "extra_body",
    "extra_headers",
    "extra_query",
    "fallbacks",
    "headers",
    "kv_transfer_params",
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
)

# Work or tiers that the price per token does not cover, or input that is not in the body.
COSTLY = _refused(
    "No price covers what it may cost.",
    "background",
    "best_of",
    "cache_control",
    "cache_control_injection_points",
    "chat_template",
    "compound_custom",
    "connectors",
    "enable_search",
    "enhancements",
    "inference_geo",
    "mcp_servers",
    "search_options",
    "search_parameters",
    "speed",
    "use_beam_search",
    "web_search",
    "web_search_options",
)

# Members common to the vendor's routes.
_SHARED = {
    **_refused("No price covers what it may cost.", "audio", "prediction"),
    "service_tier": Member(Treatment.REFUSED, "Other tiers have other prices.", allowed=("auto", "default")),
    "store": Member(Treatment.REFUSED, "Nothing is stored at the model's provider.", allowed=(False,)),
}

SERVICE_TIER = (
    "`auto` and `default` are sent as `default`, a tier that the price has as it is, others are refused. The hold covers the "
    "tier asked for and the default one."
)
CACHE_WRITE = "It needs a price for writing to a cache (`cache_write_token`), and the hold counts each input token at the highest price."
CACHE_TIME = "With a longer time than five minutes, the hold counts what may be written at the price of an hour."
"""What the routes in the vendor's shape do with tiers and caching."""

REFUSED_EVERYWHERE: Mapping[str, Member] = {**ROUTING, **COSTLY, **_SHARED}
"""The members that every metered route refuses, unless its own table says otherwise."""


def other_limits(*names: str) -> dict[str, Member]:
    """Refuse limits that a route's vendor does not know, but an upstream that also serves other routes may."""
    return _refused("This route has another limit, and an upstream may know both.", *names)


def refuse_members(body: Mapping[str, Any], table: Mapping[str, Member] = REFUSED_EVERYWHERE) -> None:
    """Raise InvalidRequest naming the first member that a table refuses."""
    for name in body:
        member = table.get(name)
        if member is not None and member.treatment is Treatment.REFUSED:
            _check_allowed(name, body[name], member)


def refuse_others(body: Mapping[str, Any], table: Mapping[str, Member]) -> None:
    """Raise InvalidRequest naming the first member that a table refuses or does not name."""
    refuse_members(body, table)
    for name in body:
        if name not in table:
            raise InvalidRequest(f"{name} is not a field of this request.", param=name)


def _check_allowed(name: str, value: Any, member: Member) -> None:
    if value is None or any(type(value) is type(allowed) and value == allowed for allowed in member.allowed):
        return  # 0 is not false, although Python compares them as equal
    if member.allowed:
        raise InvalidRequest(f"{name} must be {member.allowed_words} here. {member.reason}", param=name)
    raise InvalidRequest(f"{name} is not supported here. {member.reason}", param=name)


MEDIA = frozenset(
    {
        "audio_embeds",
        "audio_url",
        "file",
        "file_data",
        "image",
        "image_embeds",
        "image_pil",
        "image_url",
        "input_audio",
        "uuid",
        "video",
        "video_url",
    }
)
"""Members of a content part that contain media, or name cached content of an upstream. Some upstreams read them
whatever the part's type, and would fetch from an address, or find another customer's image, in a part declared as
text."""


def refuse_media(part: Mapping[str, Any], own: str, path: str) -> None:
    """Raise InvalidRequest naming the first media member of a content part other than its `own`."""
    for name, value in part.items():
        if name in MEDIA and name != own and value is not None:
            raise InvalidRequest(f"{name} is not supported in a part of this type.", param=f"{path}.{name}")


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
