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
from inference.rules.service_tiers import DEFAULT, asked_tier, charged_tier
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
        asked = asked_tier(service_tier, prices)
        caching.check(prices, asked)
        return cls(prices, read, asked, caching)

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
        return self._counted(usage, reported_tier).quantities

    def unpriced(self, usage: Mapping[str, Any], reported_tier: Any) -> tuple[str, ...]:
        """Name the counters of a valid usage that have no price of their own."""
        return self._counted(usage, reported_tier).unpriced(self.prices) if usage else ()

    def _counted(self, usage: Mapping[str, Any], reported_tier: Any) -> TokenUsage:
        counted = self.read(usage)
        reported = usage.get("service_tier") if reported_tier is None else reported_tier
        told: dict[str, Any] = {}
        if (tier := self.tier(reported)) is not None:
            told["service_tier"] = tier
        if self.caching.is_only_long and not counted.says_times:
            told["cache_write_1h_tokens"] = counted.quantities.cache_write_tokens
        return replace(counted, quantities=replace(counted.quantities, **told)) if told else counted
