"""Computes the output limit that a caller's maximum covers, on routes with text responses."""

from dataclasses import replace

from billing.rules.quantities import QUANTITY_MAX, Quantities
from billing.rules.worst_case import WorstCase
from gateway.core.contract.errors import InvalidRequest
from gateway.core.contract.values import value_class
from inference.interface.model import ServedModel
from inference.rules.terms import within


@value_class(frozen=True, slots=True)
class OutputLimit:
    """The maximum tokens of each of a call's choices, and the hold with this limit."""

    tokens: int
    hold_microusd: int


def fixed_limit(
    tokens: int, choices: int, prompt: Quantities, prices: WorstCase, max_cost_microusd: int
) -> OutputLimit:
    """Return the client's own limit. `prompt` is the usage that does not depend on the limit, including output beyond
    it.

    Raises MaxCostExceeded with the required amount, or InvalidRequest.
    """
    return OutputLimit(tokens, within(_cost_with(tokens, choices, prompt, prices), max_cost_microusd))


def largest_limit(
    model: ServedModel,
    choices: int,
    prompt: Quantities,
    prices: WorstCase,
    max_cost_microusd: int,
    wished: int | None = None,
) -> OutputLimit:
    """Find the largest limit that the maximum covers, at most the wished one. Raises MaxCostExceeded if it does not cover one
    token."""
    own = wished if wished is not None else _MOST // choices
    most = min(limit for limit in (model.max_output_tokens, model.context_tokens, own) if limit)
    cost = _cost_with(most, choices, prompt, prices)
    if cost <= max_cost_microusd:
        return OutputLimit(most, cost)
    fits = prices.output_tokens_within(prompt, max_cost_microusd) or 0
    return fixed_limit(max(fits // choices, 1), choices, prompt, prices, max_cost_microusd)


_MOST = 500_000
"""The largest output limit that the gateway chooses, over all choices, if the operator configured none."""


def _cost_with(limit: int, choices: int, prompt: Quantities, prices: WorstCase) -> int:
    total = limit * choices + (prompt.output_tokens or 0)
    if total > QUANTITY_MAX:
        raise InvalidRequest("n choices of this length are too much for one request.", param="n")
    return prices.cost_microusd(replace(prompt, output_tokens=total))
