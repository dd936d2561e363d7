"""What a request asks to be written to the upstream's prompt cache, and for how long."""

import re
from collections.abc import Iterable, Mapping
from typing import Any

from billing.rules.prices import PriceList
from gateway.core.contract.errors import InvalidRequest
from gateway.core.contract.values import value_class
from inference.rules.token_usage import is_longer_than_five_minutes

_TTL = re.compile(r"[1-9][0-9]{0,5}[smhd]", re.ASCII)
_IN_MEMORY = ("in_memory", "in-memory")

Holder = tuple[str, Mapping[str, Any]]
"""A member that may ask for caching, with its path, empty for the body."""


@value_class(frozen=True, slots=True)
class Caching:
    """`param` is the path of the first member that asks for a cache of five minutes, or of a time that it does not say;
    `long_param` of the first that asks for a longer one. None if there is no such member.

    `is_long`: something may be kept for longer than five minutes; `is_only_long`: everything that is written is.
    """

    param: str | None = None
    long_param: str | None = None
    is_long: bool = False
    is_only_long: bool = False

    def check(self, prices: PriceList, service_tier: str | None) -> None:
        """Raise InvalidRequest naming the member that asks for a cache whose writes have no price."""
        if (self.param is None and self.long_param is None) or not prices.needs_token_usage:
            return
        priced = prices.of_tier(service_tier).components
        if self.param is not None and "cache_write_token" not in priced:
            raise _unpriced(self.param)
        if self.long_param is not None and not {"cache_write_token", "cache_write_1h_token"} & priced:
            raise _unpriced(self.long_param)


NOTHING = Caching()


def read_caching(body: Mapping[str, Any], holders: Iterable[Holder]) -> Caching:
    """Read what a body and its `holders` ask for. Raises InvalidRequest naming the member at fault."""
    options = _read_options(body.get("prompt_cache_options"))
    ttl = options.get("ttl")
    marks = [("prompt_cache_options", ttl)] if options else []
    for path, holder in holders:
        control, breakpoint_ = holder.get("cache_control"), holder.get("prompt_cache_breakpoint")
        if control is not None:
            at = _joined(path, "cache_control")
            marks.append((at, _read_ttl(_read_object(control, at, {"type": ("ephemeral",)}), at)))
        if breakpoint_ is not None:
            at = _joined(path, "prompt_cache_breakpoint")
            marks.append((at, _read_ttl(_read_object(breakpoint_, at, {"mode": ("explicit",)}), at) or ttl))
    retention = _read_retention(body.get("prompt_cache_retention"))
    return _of(marks, retention) if marks or retention else NOTHING


def _of(marks: list[tuple[str, str | None]], retention: str | None) -> Caching:
    long = [at for at, time in marks if time is not None and is_longer_than_five_minutes(time)]
    short = [at for at, time in marks if time is None or not is_longer_than_five_minutes(time)]
    if retention is not None and is_longer_than_five_minutes(retention):
        return Caching(short[0] if short else None, long[0] if long else None, is_long=True, is_only_long=not short)
    return Caching(
        short[0] if short else None,
        long[0] if long else None,
        is_long=bool(long),
        is_only_long=bool(long and not short),
    )


def _read_options(options: Any) -> Mapping[str, Any]:
    if options is None:
        return {}
    path = "prompt_cache_options"
    read = _read_object(options, path, {"mode": ("implicit", "explicit")})
    return {**read, "ttl": _read_ttl(read, path)}


def _read_object(value: Any, path: str, allowed: Mapping[str, tuple[str, ...]]) -> Mapping[str, Any]:
    """Return an object with these members and `ttl` alone: others might change for how long is paid."""
    if not isinstance(value, dict):
        raise InvalidRequest(f"{path} must be an object.", param=path)
    for name, member in value.items():
        if name == "ttl" or member is None:
            continue
        if name not in allowed:
            raise InvalidRequest(f"{name} is not supported here.", param=f"{path}.{name}")
        if member not in allowed[name]:
            raise InvalidRequest(f"{name} must be {' or '.join(allowed[name])}.", param=f"{path}.{name}")
    return value


def _read_ttl(value: Mapping[str, Any], path: str) -> str | None:
    ttl = value.get("ttl")
    if ttl is None or (isinstance(ttl, str) and _TTL.fullmatch(ttl)):
        return ttl
    raise InvalidRequest("ttl must be a time, such as 5m or 1h.", param=f"{path}.ttl")


def _read_retention(retention: Any) -> str | None:
    """Return for how long the request wants its prefix to be kept, None if it does not say."""
    if retention is None or retention in _IN_MEMORY:
        return None
    if isinstance(retention, str) and _TTL.fullmatch(retention):
        return retention
    name = "prompt_cache_retention"
    raise InvalidRequest(f"{name} must be in_memory, or a time such as 24h.", param=name)


def _joined(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name


def _unpriced(path: str) -> InvalidRequest:
    return InvalidRequest("Writing to a cache has no price for this model.", param=path)
