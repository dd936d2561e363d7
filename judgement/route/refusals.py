"""What a backend's refusal of too long an input means on this route."""

from gateway.core.contract.errors import InputTooLarge
from inference.rules.upstream import Outcome, Rejected

_TOO_LONG = frozenset({"context_length_exceeded", "string_above_max_length"})


def too_large(outcome: Outcome) -> Outcome:
    """Return an outcome, with `input_too_large` in place of what says in other words that the input is too long."""
    if isinstance(outcome, Rejected) and outcome.error.details.get("code") in _TOO_LONG:
        return Rejected(InputTooLarge(private=outcome.error.private))
    return outcome
