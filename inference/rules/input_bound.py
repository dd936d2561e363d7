"""How much the input of a text model can count, and how much it probably counts."""

from billing.rules.quantities import QUANTITY_MAX
from gateway.core.contract.errors import InvalidRequest
from inference.rules.delivery import tokens_of_bytes
from inference.rules.model import ServedModel

PART_TOKENS_ESTIMATE = 1000
"""What an image, audio clip or file weighs in an estimate; vendors count 85 to some thousands for an image."""


def bound_input(model: ServedModel, size_bytes: int, other_part: str | None) -> int:
    """Bound the tokens of an input whose JSON has so many bytes. `other_part` is the path of a part that is not text.

    No tokenizer makes more tokens of a text than it has bytes, and the JSON has more than the text. What a vendor adds of
    its own (a preamble before tools) is the alias's option `input_overhead_tokens`. The size of images, sound and files
    says nothing about their tokens; the model's context does. Raises InvalidRequest where it has none.
    """
    if other_part is None:
        bound = size_bytes + _overhead_tokens(model)
        return min(bound, model.context_tokens or bound)
    if model.context_tokens is None and model.is_served:
        raise InvalidRequest("This model accepts only text.", param=other_part)
    return min(model.context_tokens or size_bytes, QUANTITY_MAX)


def estimate_input(model: ServedModel, text_bytes: int, other_parts: int) -> int:
    """Estimate the tokens of an input with so much text and so many parts that are not text."""
    estimate = tokens_of_bytes(text_bytes) + other_parts * PART_TOKENS_ESTIMATE
    return min(estimate, model.context_tokens or estimate)


def _overhead_tokens(model: ServedModel) -> int:
    """Return the alias's option, which can only raise the bound; what is no count is none."""
    tokens = model.options.get("input_overhead_tokens")
    return max(tokens, 0) if type(tokens) is int else 0
