"""What an answer counted, in no form's words, and unchecked: whoever charges by it checks it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from inference.translation.malformed import MalformedAnswer


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


def object_of(usage: Any) -> Mapping[str, Any] | None:
    """Return a usage object, None where there is none. Raises MalformedAnswer where it is something else."""
    if not (usage is None or isinstance(usage, Mapping)):
        raise MalformedAnswer("usage is no object")
    return usage


def part_of(usage: Mapping[str, Any], group: str, name: str) -> Any:
    """Return a count from a group of a usage object, unchecked, None where it is absent. Raises MalformedAnswer where the
    group is no object."""
    details = usage.get(group)
    if not (details is None or isinstance(details, Mapping)):
        raise MalformedAnswer(f"{group} is no object")
    return details.get(name) if details else None


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
