"""Reads the usage in the vendor's events."""

from collections.abc import Mapping
from typing import Any

from billing.rules.quantities import MalformedUsage, Quantities
from inference.rules.usage import read_part, read_total

SECONDS_MAX = 24 * 3600
TOKENS_PER_SECOND = 10
"""The vendor's tokens per second of speech, for transcriptions that are reported in seconds."""


def read_response_usage(usage: Mapping[str, Any]) -> Quantities:
    """Read `response.done`'s usage. Raises MissingUsage or MalformedUsage.

    `cached_tokens` are part of the text or the audio tokens. If unspecified, they count as audio, the more expensive
    kind.
    """
    cached = read_part(usage, "input_token_details", "cached_tokens")
    audio = read_part(usage, "input_token_details", "audio_tokens")
    details = usage.get("input_token_details") or {}
    cached_audio = read_part(details, "cached_tokens_details", "audio_tokens")
    if cached_audio is None:
        cached_audio = min(_count(cached), _count(audio))
    if _count(cached_audio) > min(_count(cached), _count(audio)):
        raise MalformedUsage("cached audio tokens exceed the cached or the audio tokens")
    return Quantities(
        input_tokens=read_total(usage, "input_tokens"),
        output_tokens=read_total(usage, "output_tokens"),
        cached_input_tokens=cached,
        input_audio_tokens=_count(audio) - _count(cached_audio),
        output_audio_tokens=read_part(usage, "output_token_details", "audio_tokens"),
    )


def read_transcription_usage(usage: Mapping[str, Any]) -> Quantities:
    """Read the usage of a transcription of the input, in tokens or in seconds. Raises MissingUsage or MalformedUsage."""
    if usage.get("type") == "duration":
        tokens = _whole(read_total(usage, "seconds")) * TOKENS_PER_SECOND
        return Quantities(input_tokens=tokens, output_tokens=0, input_audio_tokens=tokens)
    return Quantities(
        input_tokens=read_total(usage, "input_tokens"),
        output_tokens=read_total(usage, "output_tokens"),
        input_audio_tokens=read_part(usage, "input_token_details", "audio_tokens"),
    )


def _whole(seconds: Any) -> int:
    if isinstance(seconds, bool) or not isinstance(seconds, int | float) or not 0 <= seconds <= SECONDS_MAX:
        raise MalformedUsage("seconds is not a duration")
    return -int(-seconds // 1)


def _count(value: Any) -> int:
    if value is None:
        return 0
    if type(value) is not int or value < 0:
        raise MalformedUsage("a part of the input tokens is not a count")
    return value
