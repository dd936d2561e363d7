"""How much is held for a request, and how much output its caller's maximum buys."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from billing.rules.prices import PICO_PER_MICRO, PriceBook, cost_microusd
from billing.rules.quantities import QUANTITY_MAX
from gateway.contract.errors import InvalidRequest, MaxCostExceeded
from inference.rules.demand import Demand
from inference.rules.model import PriceVersion, ServedModel


@dataclass(frozen=True, slots=True)
class Sized:
    """A demand with its hold. `output_tokens` is the most that all choices together may produce."""

    demand: Demand
    body: Mapping[str, Any]
    hold_microusd: int
    output_tokens: int = 0


def size(demand: Demand, model: ServedModel, price: PriceVersion, max_cost_microusd: int) -> Sized:
    """Choose the output limit where the client set none, and compute the hold.

    Raises MaxCostExceeded with what the request would need at least.
    """
    book = price.bound_with_sound if demand.has_sound else price.bound
    if demand.limit_field is None:
        return Sized(demand, demand.body, _within(cost_microusd(demand.bound, book), max_cost_microusd))
    if demand.output_limit is not None:
        hold = _within(_cost_with(demand.output_limit, demand, book), max_cost_microusd)
        return Sized(demand, demand.body, hold, demand.output_limit * demand.choices)
    limit, hold = _largest_limit(demand, model, book, max_cost_microusd)
    body = {**demand.body, demand.limit_field: limit}
    return Sized(demand, body, _within(hold, max_cost_microusd), limit * demand.choices)


def _largest_limit(demand: Demand, model: ServedModel, book: PriceBook, max_cost_microusd: int) -> tuple[int, int]:
    """Find the largest limit per choice that the maximum buys, or 1 where it buys none, and what it costs."""
    most = min(limit for limit in (model.max_output_tokens, model.context_tokens, _MOST // demand.choices) if limit)
    cost = _cost_with(most, demand, book)
    if cost <= max_cost_microusd:
        return most, cost
    dearer = max(book.price("output_token") * demand.choices, 1)
    # The input's cost is rounded up here, so this is at most one micro-USD's worth of tokens below the answer.
    room = max_cost_microusd - cost_microusd(demand.bound, book)
    low = max(room * PICO_PER_MICRO // dearer, 0)
    high = min(low + PICO_PER_MICRO // dearer + 2, most)
    limit = max(_last_that_fits(low, high, lambda limit: _cost_with(limit, demand, book) <= max_cost_microusd), 1)
    return limit, _cost_with(limit, demand, book)


_MOST = 500_000
"""The largest output limit that is ever chosen here, over all choices, where the operator configured none."""


def _last_that_fits(low: int, high: int, fits: Callable[[int], bool]) -> int:
    """Find the greatest number below `high` that fits, by halving; `low` is taken to fit and `high` not to."""
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if fits(middle) else (low, middle)
    return low


def _cost_with(limit: int, demand: Demand, book: PriceBook) -> int:
    total = limit * demand.choices
    if total > QUANTITY_MAX:
        raise InvalidRequest("So many choices of such length are too much for one request.", param="n")
    return cost_microusd(replace(demand.bound, output_tokens=total), book)


def _within(cost: int, max_cost_microusd: int) -> int:
    if cost > max_cost_microusd:
        raise MaxCostExceeded(details={"requiredMicrousd": cost})
    return cost
