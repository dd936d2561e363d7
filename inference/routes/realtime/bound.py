"""A session with its hold: the caller's whole maximum, because the length of a conversation is not known in advance."""

from collections.abc import Container
from dataclasses import dataclass
from typing import NoReturn

from billing.rules.quantities import Quantities
from billing.rules.worst_case import WorstCase
from inference.interface.answer import Answer
from inference.interface.model import PriceVersion, ServedModel
from inference.interface.request import BoundedRequest
from inference.routes.realtime.request import RealtimeRequest
from inference.rules.terms import within

RESPONSE_MIN_TOKENS = 32
"""The tokens of the shortest response worth starting. A maximum below its cost opens no session."""

RESPONSE_MAX_TOKENS = 4096
"""The vendor's maximum, used if the operator configured no limit."""


@dataclass(frozen=True)
class BoundedSession(BoundedRequest):
    """A session that may be opened. Its `Allowance` tracks what it may still spend."""

    hold_microusd: int
    model: ServedModel
    price: PriceVersion
    is_large: bool = False

    @property
    def members(self) -> Container[str]:
        """Return the names of the members that the client sent."""
        return ("model",)

    def usage(self, answer: Answer) -> NoReturn:
        """Raise: a session has no complete response."""
        raise TypeError("a session has no whole answer")

    def content(self, answer: Answer, *, usage_is_known: bool = True) -> NoReturn:
        """Raise: a session has no complete response."""
        raise TypeError("a session has no whole answer")


def bound_session(
    params: RealtimeRequest, model: ServedModel, price: PriceVersion, max_cost_microusd: int
) -> BoundedSession:
    """Hold the whole maximum. Raises MaxCostExceeded if it does not cover the shortest response."""
    least = Quantities(output_tokens=min(RESPONSE_MIN_TOKENS, response_max_tokens(model)))
    worst = WorstCase.of(price.prices, audio_input=True, audio_output=True)
    within(worst.cost_microusd(least), max_cost_microusd)
    return BoundedSession(max_cost_microusd, model, price)


def response_max_tokens(model: ServedModel) -> int:
    """Return the maximum tokens of one response."""
    return min(model.max_output_tokens or RESPONSE_MAX_TOKENS, RESPONSE_MAX_TOKENS)
