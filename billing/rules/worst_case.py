"""The most that a request can cost within a bound of its quantities: what is held for it."""

from dataclasses import dataclass, replace

from billing.rules.cost import cost_pico
from billing.rules.prices import PICO_PER_MICRO, TOKEN_COMPONENTS, PriceList
from billing.rules.quantities import Quantities


@dataclass(frozen=True, slots=True)
class Range:
    """Inputs of more than `above` tokens, at most `most` (None: any number), and the highest price that each token may
    have there, as the prices of `input_token` and `output_token`."""

    above: int
    most: int | None
    prices: PriceList


@dataclass(frozen=True, slots=True)
class WorstCase:
    """The ranges of input that a request may be charged in: every band of each service tier that may apply."""

    ranges: tuple[Range, ...]

    @classmethod
    def of(
        cls,
        prices: PriceList,
        *,
        audio_input: bool = False,
        audio_output: bool = False,
        one_hour_cache: bool = False,
        service_tier: str | None = None,
    ) -> "WorstCase":
        """Find the ranges of a request with these kinds of tokens, for this tier or the default one."""
        inputs = ["input_token", "cached_input_token", "cache_write_token"]
        inputs += ["cache_write_1h_token"] if one_hour_cache else []
        inputs += ["input_audio_token"] if audio_input else []
        outputs = ["output_token", *(["output_audio_token"] if audio_output else [])]
        tiers = [prices, *(tier for name, tier in prices.service_tiers.items() if name == service_tier)]
        return cls(tuple(found for tier in tiers for found in _ranges(tier, inputs, outputs)))

    def cost_microusd(self, bound: Quantities) -> int:
        """Return the most that quantities within the bound can cost, rounded up to whole micro-USD."""
        most = 0
        for each in self._reached(bound):
            most = max(most, _cost_pico(bound, each))
        return -(-most // PICO_PER_MICRO)

    def highest(self, bound: Quantities) -> tuple[Quantities, PriceList]:
        """Return the quantities and the prices that make this cost: those of the range that costs most."""
        each = max(self._reached(bound), key=lambda range_: _cost_pico(bound, range_))
        return _within(bound, each), each.prices

    def output_tokens_within(self, bound: Quantities, most_microusd: int) -> int | None:
        """Return how many output tokens can be added to the bound for at most this cost, negative if its own cost is
        higher; None if they have no price."""
        room = most_microusd * PICO_PER_MICRO
        priced = [each for each in self._reached(bound) if each.prices.price("output_token")]
        left = [(room - _cost_pico(bound, each)) // each.prices.price("output_token") for each in priced]
        return min(left, default=None)

    @property
    def input_price(self) -> int:
        """Return the highest price of an input token in any range, in pico-USD."""
        return max(each.prices.price("input_token") for each in self.ranges)

    @property
    def output_price(self) -> int:
        """Return the highest price of an output token in any range, in pico-USD."""
        return max(each.prices.price("output_token") for each in self.ranges)

    def _reached(self, bound: Quantities) -> tuple[Range, ...]:
        if len(self.ranges) == 1:
            return self.ranges
        tokens = bound.input_tokens or 0
        return tuple(each for each in self.ranges if tokens > each.above or not each.above)


def _ranges(prices: PriceList, inputs: list[str], outputs: list[str]) -> list[Range]:
    edges = [0, *(band.above_input_tokens for band in prices.bands)]
    variants = [prices, *(band.prices for band in prices.bands)]
    return [
        Range(above, most, _at_the_highest(variant, inputs, outputs))
        for above, most, variant in zip(edges, [*edges[1:], None], variants, strict=True)
    ]


def _at_the_highest(prices: PriceList, inputs: list[str], outputs: list[str]) -> PriceList:
    others = {name: price for name, price in prices.unit_prices.items() if name not in TOKEN_COMPONENTS}
    for name, components in (("input_token", inputs), ("output_token", outputs)):
        priced = [prices.unit_prices[each] for each in components if each in prices.unit_prices]
        others |= {name: max(priced)} if priced else {}
    return PriceList(others, prices.images)


def _cost_pico(bound: Quantities, range_: Range) -> int:
    return cost_pico(_within(bound, range_), range_.prices)


def _within(bound: Quantities, range_: Range) -> Quantities:
    if range_.most is not None and (bound.input_tokens or 0) > range_.most:
        return replace(bound, input_tokens=range_.most)
    return bound
