"""What an answer counted, in no form's words, and unchecked: whoever charges by it checks it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Usage:
    """What an answer counted, as its upstream said it: unchecked, None where it said nothing."""

    input_tokens: Any = None
    output_tokens: Any = None
    total_tokens: Any = None
    cached_tokens: Any = None
    cache_write_tokens: Any = None
    reasoning_tokens: Any = None
    input_audio_tokens: Any = None
    output_audio_tokens: Any = None


def part_of(usage: Mapping[str, Any], group: str, name: str) -> Any:
    """Return a count from a group of a usage object, unchecked, None where it is absent.

    A group that is no object is returned itself: it is no count, and whoever charges by it must find that out.
    """
    details = usage.get(group)
    return details.get(name) if isinstance(details, Mapping) else details


def sum_of(usage: Usage) -> Any:
    """Return the total that the upstream gave, else the sum where both parts are counts."""
    parts = (usage.input_tokens, usage.output_tokens)
    if usage.total_tokens is None and all(type(part) is int for part in parts):
        return sum(parts)
    return usage.total_tokens


def or_zero(count: Any) -> Any:
    """Return a count, 0 where the upstream said nothing of it."""
    return 0 if count is None else count


def stated(**counts: Any) -> dict[str, Any]:
    """Leave out the counts that the upstream said nothing of."""
    return {name: count for name, count in counts.items() if count is not None}
