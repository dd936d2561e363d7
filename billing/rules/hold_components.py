"""Lists the components of a hold, so that anyone can recompute it: their sum, rounded up once, is the hold."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import product

from billing.rules.charge_components import Component
from billing.rules.cost import unit_price, units_of
from billing.rules.prices import PriceError, PriceList
from billing.rules.quantities import QUANTITY_NAMES, MalformedUsage, Quantities
from billing.rules.worst_case import WorstCase


def bound_of(inputs: Mapping[str, object]) -> Quantities | None:
    """Read the bound quantities among what a hold was computed from; None if there are none, or they are no counts."""
    counts = {name: inputs[name] for name in QUANTITY_NAMES if inputs.get(name) is not None}
    try:
        return Quantities(**counts) if counts else None  # type: ignore[arg-type]
    except MalformedUsage:
        return None


def components_of(bound: Quantities, prices: PriceList, hold_microusd: int) -> list[Component]:
    """List the components of a bound that cost exactly the hold; empty if no combination does.

    Which kinds of tokens and which service tier a request allowed is not on record, but the hold says so: the first combination
    that makes it is listed, the one with the fewest kinds first.
    """
    for worst in _possible(prices):
        for each in _kinds(bound, prices):
            if worst.cost_microusd(each) == hold_microusd:
                return _listed(*worst.highest(each))
    return []


def _possible(prices: PriceList) -> Iterator[WorstCase]:
    flags = sorted(product((False, True), repeat=3), key=sum)
    for tier in (None, *prices.service_tiers):
        for audio_input, audio_output, one_hour_cache in flags:
            yield WorstCase.of(
                prices,
                audio_input=audio_input,
                audio_output=audio_output,
                one_hour_cache=one_hour_cache,
                service_tier=tier,
            )


def _kinds(bound: Quantities, prices: PriceList) -> Iterator[Quantities]:
    """Yield the bound for each kind of images that has a price, because the kind is not on record either."""
    if not bound.images or not prices.images:
        yield bound
    else:
        yield from (replace(bound, image_kind=kind) for kind in prices.images)


def _listed(bound: Quantities, prices: PriceList) -> list[Component]:
    counted = [(name, count, _price(name, bound, prices)) for name, count in units_of(bound).items() if count]
    return [Component(name, count, price, count * price) for name, count, price in counted if price]


def _price(component: str, bound: Quantities, prices: PriceList) -> int:
    try:
        return unit_price(component, bound, prices)
    except PriceError:
        return 0
