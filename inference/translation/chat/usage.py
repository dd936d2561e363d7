"""The usage object of a completion."""

from typing import Any

from inference.translation.answer import Usage, object_of, or_zero, part_of, stated, sum_of


def read_usage(sent: Any) -> Usage | None:
    """Read the counts, unchecked. Raises MalformedAnswer if it is not an object."""
    usage = object_of(sent)
    if usage is None:
        return None
    return Usage(
        input_tokens=usage.get("prompt_tokens"),
        output_tokens=usage.get("completion_tokens"),
        total_tokens=usage.get("total_tokens"),
        cached_tokens=part_of(usage, "prompt_tokens_details", "cached_tokens"),
        cache_write_tokens=part_of(usage, "prompt_tokens_details", "cache_write_tokens"),
        input_audio_tokens=part_of(usage, "prompt_tokens_details", "audio_tokens"),
        reasoning_tokens=part_of(usage, "completion_tokens_details", "reasoning_tokens"),
        output_audio_tokens=part_of(usage, "completion_tokens_details", "audio_tokens"),
    )


def write_usage(usage: Usage | None) -> dict[str, Any] | None:
    """Write the counts; a missing one is omitted, or 0 if it is part of another."""
    if usage is None:
        return None
    totals = {
        "prompt_tokens": usage.input_tokens,
        "completion_tokens": usage.output_tokens,
        "total_tokens": sum_of(usage),
    }
    groups = {
        "prompt_tokens_details": {"cached_tokens": or_zero(usage.cached_tokens)}
        | stated(cache_write_tokens=usage.cache_write_tokens, audio_tokens=usage.input_audio_tokens),
        "completion_tokens_details": {"reasoning_tokens": or_zero(usage.reasoning_tokens)}
        | stated(audio_tokens=usage.output_audio_tokens),
    }
    return stated(**totals) | groups
