"""Recognizes a backend's refusal of an input that is too long."""

from gateway.core.contract.errors import InputTooLarge
from inference.interface.upstream import Outcome, Rejected

_TOO_LONG = frozenset({"context_length_exceeded", "string_above_max_length"})


def too_large(outcome: Outcome) -> Outcome:
    """Return an outcome, with `input_too_large` instead of any other code for an input that is too long."""
    if isinstance(outcome, Rejected) and outcome.error.details.get("code") in _TOO_LONG:
        return Rejected(InputTooLarge(private=outcome.error.private))
    return outcome
