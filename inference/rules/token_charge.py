"""How the tokens of a text call are counted and charged: at which prices, in which service tier, for which caching."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from billing.rules.prices import PriceList
from billing.rules.quantities import Quantities
from billing.rules.worst_case import WorstCase
from gateway.core.contract.values import value_class
from inference.interface.model import PriceVersion
from inference.rules.caching import NOTHING, Caching
from inference.rules.service_tiers import DEFAULT, charged_tier, requested_tier
from inference.rules.token_usage import TokenUsage

Read = Callable[[Mapping[str, Any]], TokenUsage]


@value_class(frozen=True, slots=True)
class TokenCharge:
    """`read` counts the usage of the route's shape, `service_tier` is the tier asked for, None for the default one."""

    prices: PriceList
    read: Read
    service_tier: str | None = None
    caching: Caching = NOTHING

    @classmethod
    def of(cls, prices: PriceList, read: Read, service_tier: Any, caching: Caching) -> "TokenCharge":
        """Return how a request is charged at prices. Raises InvalidRequest if what it asks for has none."""
        requested = requested_tier(service_tier, prices)
        caching.check(prices, requested)
        return cls(prices, read, requested, caching)

    @property
    def sent_tier(self) -> str:
        """Return the tier that is sent upstream, whose own default could be another."""
        return self.service_tier or DEFAULT

    def worst_case(self, price: PriceVersion, *, audio_input: bool = False, audio_output: bool = False) -> WorstCase:
        """Return the most that the call can be charged at."""
        if not (audio_input or audio_output or self.caching.is_long or self.service_tier):
            return price.worst_case
        return WorstCase.of(
            price.prices,
            audio_input=audio_input,
            audio_output=audio_output,
            one_hour_cache=self.caching.is_long,
            service_tier=self.service_tier,
        )

    def tier(self, reported: Any) -> str | None:
        """Return the tier that the call is charged at, None for the default one."""
        return charged_tier(reported, self.service_tier, self.prices)

    def quantities(self, usage: Mapping[str, Any], reported_tier: Any) -> Quantities:
        """Count a usage; none is needed if tokens have no price. Raises MissingUsage or MalformedUsage."""
        if not usage and not self.prices.needs_token_usage:
            return Quantities()
        counted = self.read(usage)
        tier = self.tier(usage.get("service_tier") if reported_tier is None else reported_tier)
        is_only_long = self.caching.is_only_long and not counted.says_times
        if tier is not None or is_only_long:
            counted = counted.of(tier, is_only_long=is_only_long)
        unpriced = counted.unpriced(self.prices)
        return replace(counted.quantities, unpriced=unpriced) if unpriced else counted.quantities
