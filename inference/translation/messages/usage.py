"""Reads and writes the usage of a message, whose input tokens exclude those of the cache; a representation's include them."""

from collections.abc import Iterable, Mapping
from typing import Any

from inference.translation.answer import Usage, object_of, others_of, part_of

NOTHING_COUNTED: Mapping[str, Any] = {
    "input_tokens": 0,
    "cache_creation_input_tokens": 0,
    "cache_read_input_tokens": 0,
    "output_tokens": 0,
}
"""The usage in events of a message whose counts are not known (yet): clients read it without looking whether it is there."""

_COUNTED = frozenset(
    {
        *("input_tokens", "output_tokens", "cache_read_input_tokens", "cache_creation_input_tokens"),
        "thinking_tokens",
    }
)
"""The counters of a usage that are read by name."""

_READ = ("cached_tokens", "cache_read_tokens", "cache_read_input_tokens", "prompt_cache_hit_tokens")
_WRITTEN = ("cache_write_tokens", "cache_creation_tokens", "cache_creation_input_tokens")
_BY_TIME = ("cache_creation", "cache_creation_token_details")
"""The names under which upstreams report what was read from a cache and written to it, and for how long it is kept."""


def read_usage(sent: Any) -> Usage | None:
    """Read the counts. They are unchecked; what cannot be added is passed on as it is. Raises MalformedAnswer if the usage is
    not an object."""
    usage = object_of(sent)
    if usage is None:
        return None
    parts = [usage.get("input_tokens"), _first(_READ, usage), _written(usage)]
    is_countable = all(type(part) is int for part in parts)
    whole = sum(parts) if is_countable else next(part for part in parts if type(part) is not int)
    output, total = usage.get("output_tokens"), usage.get("total_tokens")
    others = {name: value for name, value in usage.items() if name not in _COUNTED}
    return Usage(
        input_tokens=whole,
        output_tokens=output,
        total_tokens=total if _is_more(total, whole, output) else None,
        cached_tokens=usage.get("cache_read_input_tokens"),
        cache_write_tokens=usage.get("cache_creation_input_tokens"),
        reasoning_tokens=part_of(usage, "output_tokens_details", "thinking_tokens"),
        others=others_of(others, ("input_tokens", "output_tokens"), _COUNTED),
    )


def write_usage(usage: Usage | None) -> dict[str, Any] | None:
    """Write the counts. What only other formats have is written beside the vendor's members, because the call is charged by it."""
    if usage is None:
        return None
    by_time = {name: usage.of_input[name] for name in _BY_TIME if name in usage.of_input}
    beside = {**usage.beside, **by_time}
    named = {**usage.of_input, **beside}
    counts = {
        **beside,
        "input_tokens": _without_cache(usage, named),
        "cache_creation_input_tokens": usage.cache_write_tokens or _first(_WRITTEN, named),
        "cache_read_input_tokens": usage.cached_tokens or _first(_READ, named),
        "output_tokens": usage.output_tokens,
    }
    thinking = {"thinking_tokens": usage.reasoning_tokens} if usage.reasoning_tokens else {}
    is_more = _is_more(usage.total_tokens, usage.input_tokens, usage.output_tokens)
    more = {
        "input_tokens_details": {name: count for name, count in usage.of_input.items() if name not in by_time},
        "output_tokens_details": {**usage.of_output, **thinking},
        "total_tokens": usage.total_tokens if is_more else None,
    }
    return counts | {name: value for name, value in more.items() if value}


def _without_cache(usage: Usage, beside: Mapping[str, Any]) -> Any:
    cached = {"cached_tokens": usage.cached_tokens, "cache_write_tokens": usage.cache_write_tokens}
    named = {**beside, **{name: count for name, count in cached.items() if count}}
    parts = (usage.input_tokens, _first(_READ, named), _written(named))
    return parts[0] - parts[1] - parts[2] if all(type(part) is int for part in parts) else parts[0]


def _written(usage: Mapping[str, Any]) -> Any:
    """Return what was written to a cache, which may be reported only by its times."""
    return _first(_WRITTEN, usage) or _first(_BY_TIME, {name: _sum(usage.get(name)) for name in _BY_TIME})


def _sum(by_time: Any) -> Any:
    counts = [count for count in by_time.values() if type(count) is int] if isinstance(by_time, Mapping) else []
    return sum(counts)


def _first(names: Iterable[str], counts: Mapping[str, Any]) -> Any:
    """Return the first count that is not 0. Counts that contradict each other are refused where the call is charged."""
    return next((count for name in names if (count := counts.get(name))), 0)


def _is_more(total: Any, inputs: Any, outputs: Any) -> bool:
    """Return whether a total has tokens that are neither input nor output, as where reasoning is no part of the output."""
    return all(type(count) is int for count in (total, inputs, outputs)) and total > inputs + outputs
