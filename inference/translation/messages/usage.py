"""Reads and writes the usage of a message, whose input tokens exclude those that were read from a cache or written to one."""

from collections.abc import Iterable, Mapping
from typing import Any

from inference.translation.answer import Usage, object_of, others_of, part_of, stated

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
"""The names under which upstreams of other forms report what they read from a cache and wrote to one."""


def read_usage(sent: Any) -> Usage | None:
    """Read the counts. This format's input tokens exclude those of the cache; a representation's include them.

    Counts are unchecked; what cannot be added is passed on as it is. Raises MalformedAnswer if the usage is not an object.
    """
    usage = object_of(sent)
    if usage is None:
        return None
    read, told = usage.get("cache_read_input_tokens"), usage.get("cache_creation_input_tokens")
    written = told or _by_time(usage) or told
    parts = [usage.get("input_tokens"), *(part for part in (read, written) if part is not None)]
    others = {name: value for name, value in usage.items() if name not in _COUNTED}
    is_countable = all(type(part) is int for part in parts)
    return Usage(
        input_tokens=sum(parts) if is_countable else next(part for part in parts if type(part) is not int),
        output_tokens=usage.get("output_tokens"),
        cached_tokens=read,
        cache_write_tokens=written,
        reasoning_tokens=part_of(usage, "output_tokens_details", "thinking_tokens"),
        others=others_of(others, ("input_tokens", "output_tokens"), _COUNTED),
    )


def write_usage(usage: Usage | None) -> dict[str, Any] | None:
    """Write the counts. A total that is more than its parts is written, too, because the difference is charged."""
    if usage is None:
        return None
    groups = (usage.of_input, usage.beside)
    read = _first(usage.cached_tokens, _READ, groups)
    written = _first(usage.cache_write_tokens, _WRITTEN, groups) or next(filter(None, map(_by_time, groups)), 0)
    thinking = stated(thinking_tokens=usage.reasoning_tokens) | dict(usage.of_output)
    return {
        **{name: usage.of_input[name] for name in _BY_TIME if name in usage.of_input},
        **usage.beside,
        "input_tokens": _without(usage.input_tokens, read, written),
        "cache_creation_input_tokens": written,
        "cache_read_input_tokens": read,
        "output_tokens": usage.output_tokens,
        **({"output_tokens_details": thinking} if thinking else {}),
        **({"total_tokens": usage.total_tokens} if _is_more(usage) else {}),
    }


def _first(count: Any, names: Iterable[str], groups: Iterable[Mapping[str, Any]]) -> Any:
    """Return the first count that is not 0, unchecked. Others, if they contradict it, are still written."""
    told = (count, *(group.get(name) for group in groups for name in names))
    return next(filter(None, told), 0)


def _by_time(usage: Mapping[str, Any]) -> Any:
    """Return what was written to a cache for any time, None if that was not told."""
    for name in _BY_TIME:
        told = usage.get(name)
        if isinstance(told, Mapping) and told and all(type(count) is int for count in told.values()):
            return sum(told.values())
    return None


def _without(whole: Any, read: Any, written: Any) -> Any:
    is_countable = all(type(count) is int for count in (whole, read, written))
    return whole - read - written if is_countable else whole


def _is_more(usage: Usage) -> bool:
    parts = (usage.total_tokens, usage.input_tokens, usage.output_tokens)
    return all(type(part) is int for part in parts) and parts[0] > parts[1] + parts[2]
