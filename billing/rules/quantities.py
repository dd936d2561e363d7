"""What a call used, as counts that can be trusted."""

from dataclasses import dataclass, fields
from typing import Any

# No call within the body limits comes near it; a larger number must count something else.
QUANTITY_MAX = 2 * 10**9


class MalformedUsage(ValueError):
    """A reported quantity that is not a valid count: not a whole number, negative, beyond all bounds, or at odds with
    another."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Quantities:
    """Metered quantities of one call; None where a quantity was not metered.

    `input_tokens` is the whole input, of which `cached_input_tokens` and `input_audio_tokens` are disjoint parts, as
    `output_audio_tokens` is of `output_tokens`. `image_kind` is `size/quality` and picks the price of `images`.
    Raises MalformedUsage.
    """

    input_tokens: int | None = None
    cached_input_tokens: int | None = None
    output_tokens: int | None = None
    input_audio_tokens: int | None = None
    output_audio_tokens: int | None = None
    images: int | None = None
    input_characters: int | None = None
    seconds: int | None = None
    input_bytes: int | None = None
    items: int | None = None
    image_kind: str | None = None

    def __post_init__(self) -> None:
        for name in QUANTITY_NAMES:
            _check_count(name, getattr(self, name))
        if (self.cached_input_tokens or 0) + (self.input_audio_tokens or 0) > (self.input_tokens or 0):
            raise MalformedUsage("cached and audio input tokens exceed the input tokens")
        if (self.output_audio_tokens or 0) > (self.output_tokens or 0):
            raise MalformedUsage("output audio tokens exceed the output tokens")

    def counts(self) -> dict[str, int]:
        """Return the metered quantities by the names of the usage record's columns."""
        return {name: value for name in QUANTITY_NAMES if (value := getattr(self, name)) is not None}


QUANTITY_NAMES = tuple(field.name for field in fields(Quantities) if field.name != "image_kind")


def _check_count(name: str, value: Any) -> None:
    if value is None:
        return
    if type(value) is not int:  # a bool is an int to isinstance
        raise MalformedUsage(f"{name} is not a whole number")
    if not 0 <= value <= QUANTITY_MAX:
        raise MalformedUsage(f"{name} is out of range")
