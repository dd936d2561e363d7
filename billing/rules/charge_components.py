"""Lists the components of a charge, so that anyone can recompute it: their sum, rounded up once, is the charge."""

from collections.abc import Iterable
from dataclasses import dataclass

from billing.rules.cost import units_of
from billing.rules.prices import PICO_PER_MICRO, PriceList
from billing.rules.quantities import Quantities

CAP = "cap"
"""What the usage cost beyond the hold, which is not charged."""
ADJUSTMENT = "adjustment"
"""What the quantities do not explain, such as a charge that the operator decided."""


@dataclass(frozen=True, slots=True)
class Component:
    """A component of a charge in pico-USD. The amount is the quantity at the unit price; if that is None, it is what the rest
    of the charge leaves for it. `CAP` and `ADJUSTMENT` have neither quantity nor price, and `CAP` is negative."""

    name: str
    quantity: int | None
    unit_price: int | None
    amount: int


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a call was charged, in micro-USD: `cost` is the charge and what the hold capped of it. `is_decided`: by the
    operator, or by an upstream's record without quantities."""

    charge_microusd: int
    cost_microusd: int
    hold_microusd: int
    is_decided: bool

    @property
    def is_whole_hold(self) -> bool:
        """Return whether the usage may have cost more than was charged."""
        return self.charge_microusd == self.hold_microusd


def components_of(used: Quantities, prices: PriceList, outcome: Outcome) -> list[Component]:
    """List the priced components that a settled call used, and what makes their sum, rounded up, the charge."""
    found = [] if outcome.is_decided else _priced(used, prices.in_force(used), outcome)
    return [*found, *_rest(_sum(found), outcome)]


def _priced(used: Quantities, prices: PriceList, outcome: Outcome) -> list[Component]:
    counted = [(name, count, prices.price(name)) for name, count in units_of(used).items()]
    found = [Component(name, count, price, count * price) for name, count, price in counted]
    if used.images and prices.images:
        found.append(_images(used, prices, outcome, _sum(found)))
    return [component for component in found if component.amount]


def _images(used: Quantities, prices: PriceList, outcome: Outcome, others: int) -> Component:
    """Price images whose kind is not on record: the unit price is certain if only one explains the charge."""
    count, cost = used.images or 0, outcome.cost_microusd
    possible = {price for price in prices.images.values() if _explains(others + count * price, outcome)}
    price = possible.pop() if len(possible) == 1 else None
    amount = max(cost * PICO_PER_MICRO - others, 0) if price is None else count * price
    return Component("image", count, price, amount)


def _explains(total: int, outcome: Outcome) -> bool:
    cost = _rounded_up(total)
    return cost == outcome.cost_microusd or (outcome.is_whole_hold and cost > outcome.cost_microusd)


def _rest(total: int, outcome: Outcome) -> list[Component]:
    """Return what is missing to the charge, exactly, if the rounded sum is not the charge."""
    if _rounded_up(total) == outcome.charge_microusd:
        return []
    missing = outcome.charge_microusd * PICO_PER_MICRO - total
    return [Component(CAP if missing < 0 and outcome.is_whole_hold else ADJUSTMENT, None, None, missing)]


def _sum(components: Iterable[Component]) -> int:
    return sum(component.amount for component in components)


def _rounded_up(total_pico: int) -> int:
    return -(-total_pico // PICO_PER_MICRO)
