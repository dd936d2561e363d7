"""Computes what a request would hold and cost, with the arithmetic, by the same functions as a call."""

from dataclasses import dataclass

from billing.rules.charge_components import Component
from billing.rules.cost import cost_microusd, unit_price, units_of
from billing.rules.prices import PriceList
from billing.rules.quantities import Quantities
from billing.rules.worst_case import WorstCase


@dataclass(frozen=True, slots=True)
class Quote:
    """The charge and the hold of a request in micro-USD, and the priced components of each in pico-USD, whose sum, rounded up
    once, it is. `band_above` is the threshold of the charge's band, None below all."""

    charge_microusd: int
    charge: tuple[Component, ...]
    hold_microusd: int
    hold: tuple[Component, ...]
    band_above: int | None


def quote(used: Quantities, bound: Quantities, prices: PriceList) -> Quote:
    """Compute the charge of the usage, and the hold of a request within the bound, both in the usage's service tier.

    A cache write for an hour or audio in the usage says that the request asks for it. Raises PriceError if images of this kind
    have no price.
    """
    worst_case = WorstCase.of(
        prices,
        audio_input=bool(used.input_audio_tokens),
        audio_output=bool(used.output_audio_tokens),
        one_hour_cache=bool(used.cache_write_1h_tokens),
        service_tier=used.service_tier,
    )
    held, highest = worst_case.highest(bound)
    return Quote(
        charge_microusd=cost_microusd(used, prices),
        charge=_components(used, prices.in_force(used)),
        hold_microusd=worst_case.cost_microusd(bound),
        hold=_components(held, highest),
        band_above=prices.band_above(used),
    )


def _components(used: Quantities, prices: PriceList) -> tuple[Component, ...]:
    counted = [(name, count, unit_price(name, used, prices)) for name, count in units_of(used).items() if count]
    return tuple(Component(name, count, price, count * price) for name, count, price in counted if price)
