"""Estimates what usage would have brought at another price, from the sums of days."""

from dataclasses import dataclass

from billing.rules.prices import PICO_PER_MICRO, PriceList


@dataclass(frozen=True, slots=True)
class ModelUsage:
    """The settled calls of a model in some days: their number, their tokens, and their charges in micro-USD."""

    calls: int
    input_tokens: int
    output_tokens: int
    charged_microusd: int


@dataclass(frozen=True, slots=True)
class Impact:
    """What the usage comes to by its tokens and requests alone, at the price in force and at the new one, in micro-USD."""

    now_microusd: int
    new_microusd: int

    @property
    def difference_microusd(self) -> int:
        """Return how much more the new price brings."""
        return self.new_microusd - self.now_microusd


def impact(usage: ModelUsage, now: PriceList, new: PriceList) -> Impact | None:
    """Compute both sums; None if neither price has any for tokens or requests, which are all that the days count.

    Every token counts as a plain one of a short request: the days know neither caches, nor bands, nor service tiers.
    """
    counted = {"input_token", "output_token", "request"}
    if not counted & (now.components | new.components):
        return None
    return Impact(_sum(usage, now), _sum(usage, new))


def _sum(usage: ModelUsage, prices: PriceList) -> int:
    total = usage.input_tokens * prices.price("input_token") + usage.output_tokens * prices.price("output_token")
    return -(-(total + usage.calls * prices.price("request")) // PICO_PER_MICRO)
