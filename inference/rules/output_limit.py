"""Computes the output limit that a caller's maximum covers, on routes with text responses."""

from collections.abc import Callable
from dataclasses import replace

from billing.rules.prices import PICO_PER_MICRO, PriceList, cost_microusd
from billing.rules.quantities import QUANTITY_MAX, Quantities
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
    tokens: int, choices: int, prompt: Quantities, prices: PriceList, max_cost_microusd: int
) -> OutputLimit:
    """Return the client's own limit. `prompt` is the usage that does not depend on the limit, including output beyond
    it.

    Raises MaxCostExceeded with the required amount, or InvalidRequest.
    """
    return OutputLimit(tokens, within(_cost_with(tokens, choices, prompt, prices), max_cost_microusd))


def largest_limit(
    model: ServedModel, choices: int, prompt: Quantities, prices: PriceList, max_cost_microusd: int
) -> OutputLimit:
    """Find the largest limit that the maximum covers. Raises MaxCostExceeded if it does not cover even one token."""
    most = min(limit for limit in (model.max_output_tokens, model.context_tokens, _MOST // choices) if limit)
    cost = _cost_with(most, choices, prompt, prices)
    if cost <= max_cost_microusd:
        return OutputLimit(most, cost)
    unit_price = max(prices.price("output_token") * choices, 1)
    # The input's cost is rounded up here, so this is at most one micro-USD's worth of tokens below the exact limit.
    room = max_cost_microusd - cost_microusd(prompt, prices)
    low = max(room * PICO_PER_MICRO // unit_price, 0)
    high = min(low + PICO_PER_MICRO // unit_price + 2, most)
    fits = _last_that_fits(low, high, lambda limit: _cost_with(limit, choices, prompt, prices) <= max_cost_microusd)
    return fixed_limit(max(fits, 1), choices, prompt, prices, max_cost_microusd)


_MOST = 500_000
"""The largest output limit that the gateway chooses, over all choices, if the operator configured none."""


def _last_that_fits(low: int, high: int, fits: Callable[[int], bool]) -> int:
    """Find the greatest number below `high` that fits, by bisection; `low` must fit and `high` must not."""
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if fits(middle) else (low, middle)
    return low


def _cost_with(limit: int, choices: int, prompt: Quantities, prices: PriceList) -> int:
    total = limit * choices + (prompt.output_tokens or 0)
    if total > QUANTITY_MAX:
        raise InvalidRequest("n choices of this length are too much for one request.", param="n")
    return cost_microusd(replace(prompt, output_tokens=total), prices)
