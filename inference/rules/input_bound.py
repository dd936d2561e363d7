"""Bounds and estimates the input tokens of a text model."""

from collections.abc import Mapping
from typing import Any

from billing.rules.quantities import QUANTITY_MAX
from gateway.core.contract.errors import InvalidRequest
from inference.interface.model import ServedModel

BYTES_PER_TOKEN = 4

PART_TOKENS_ESTIMATE = 1000
"""The estimated tokens of an image, audio clip or file; vendors count 85 to some thousands for an image."""


PREAMBLE_TOKENS = 1000
"""The most tokens of one text that the vendor of Messages adds to a prompt: before tools, again for each tool that it defines, and for
an answer's format. It publishes 159 to 735."""


def bound_input(model: ServedModel, size_bytes: int, other_part: str | None, preambles: int = 0) -> int:
    """Bound the tokens of an input by the size of its JSON. `other_part` is the path of a part that is not text, `preambles` the
    number of texts that an upstream with messages adds.

    No tokenizer makes more tokens of a text than it has bytes, and the JSON is larger than the text and what a vendor writes between
    its parts. What other vendors add (a preamble before tools) is the alias's option `input_overhead_tokens`. The size of images,
    audio and files does not bound their tokens; the model's context does. Raises InvalidRequest if none is configured.
    """
    if other_part is None:
        added = preambles * PREAMBLE_TOKENS if model.has_messages else 0
        bound = size_bytes + added + _overhead_tokens(model)
        return min(bound, model.context_tokens or bound)
    if model.context_tokens is None and model.is_served:
        raise InvalidRequest("This model accepts only text.", param=other_part)
    return min(model.context_tokens or size_bytes, QUANTITY_MAX)


def is_explained(answer_format: Any) -> bool:
    """Return whether a vendor may explain the format of the answer to the model: any but plain text."""
    return isinstance(answer_format, Mapping) and answer_format.get("type") != "text"


def estimate_input(model: ServedModel, text_bytes: int, other_parts: int) -> int:
    """Estimate the tokens of an input with this much text and this many other parts."""
    estimate = tokens_of_bytes(text_bytes) + other_parts * PART_TOKENS_ESTIMATE
    return min(estimate, model.context_tokens or estimate)


def _overhead_tokens(model: ServedModel) -> int:
    """Return the alias's option, which can only raise the bound; an invalid one counts as 0."""
    tokens = model.options.get("input_overhead_tokens")
    return max(tokens, 0) if type(tokens) is int else 0


def tokens_of_bytes(size_bytes: int) -> int:
    """Estimate the tokens of a text from its UTF-8 bytes, rounded up."""
    return -(-size_bytes // BYTES_PER_TOKEN)
