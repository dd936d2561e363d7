"""Validated quantities of a call's usage."""

from dataclasses import fields
from operator import attrgetter

from gateway.core.contract.values import value_class

# No call within the body limits can reach it; a larger number is a reporting error.
QUANTITY_MAX = 2 * 10**9


class MalformedUsage(ValueError):
    """A reported quantity that is not a valid count: not a whole number, negative, out of range, or inconsistent with
    another."""


@value_class(frozen=True, slots=True, kw_only=True)
class Quantities:
    """Metered quantities of one call; None if a quantity was not metered.

    `input_tokens` is the whole input. Disjoint parts of it are `cached_input_tokens`, read from the upstream's prompt cache,
    `cache_write_tokens`, written to it (of which `cache_write_1h_tokens` for an hour), and `input_audio_tokens`.
    `output_audio_tokens` are part of `output_tokens`. `image_kind` is `size/quality` and picks the price of `images`,
    `service_tier` (None: the default) that of tokens. `unpriced` names counters that are charged as plain input or output
    because they have no price of their own. Raises MalformedUsage.
    """

    input_tokens: int | None = None
    cached_input_tokens: int | None = None
    cache_write_tokens: int | None = None
    cache_write_1h_tokens: int | None = None
    output_tokens: int | None = None
    input_audio_tokens: int | None = None
    output_audio_tokens: int | None = None
    images: int | None = None
    input_characters: int | None = None
    seconds: int | None = None
    input_bytes: int | None = None
    items: int | None = None
    image_kind: str | None = None
    service_tier: str | None = None
    unpriced: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for value in _counts_of(self):
            if value is not None and (type(value) is not int or not 0 <= value <= QUANTITY_MAX):
                raise self._malformed()
        cached, written = self.cached_input_tokens or 0, self.cache_write_tokens or 0
        if cached + written + (self.input_audio_tokens or 0) > (self.input_tokens or 0):
            raise MalformedUsage("cached, cache-writing and audio input tokens exceed the input tokens")
        if (self.cache_write_1h_tokens or 0) > written:
            raise MalformedUsage("tokens written for an hour exceed the tokens written to the cache")
        if (self.output_audio_tokens or 0) > (self.output_tokens or 0):
            raise MalformedUsage("output audio tokens exceed the output tokens")

    def counts(self) -> dict[str, int]:
        """Return the metered quantities by the names of the usage record's columns."""
        named = zip(QUANTITY_NAMES, _counts_of(self), strict=True)
        return {name: value for name, value in named if value is not None}

    def _malformed(self) -> MalformedUsage:
        """Return the error that names the invalid quantity."""
        for name, value in self.counts().items():
            if type(value) is not int:  # a bool is an int to isinstance
                return MalformedUsage(f"{name} is not a whole number")
            if not 0 <= value <= QUANTITY_MAX:
                return MalformedUsage(f"{name} is out of range")
        raise AssertionError("all counts are valid")


_NO_COUNTS = ("image_kind", "service_tier", "unpriced")
QUANTITY_NAMES = tuple(field.name for field in fields(Quantities) if field.name not in _NO_COUNTS)
_counts_of = attrgetter(*QUANTITY_NAMES)
