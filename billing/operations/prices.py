"""Publish prices: dated rows, never edited."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from billing.models import PriceVersion
from billing.queries import prices
from billing.rules.prices import PriceList


def publish(alias: str, components: Mapping[str, Any], *, now: datetime) -> PriceVersion | None:
    """Add a version that applies from now on, or return None if the prices in force are the same.

    Raises PriceError if a component cannot be read.
    """
    price_list = PriceList.parse(components)
    in_force = prices.in_force(alias, now)
    if in_force is not None and PriceList.parse(in_force.components) == price_list:
        return None
    if in_force is not None and in_force.effective_at == now:
        now += datetime.resolution
    return PriceVersion.objects.create(alias=alias, components=dict(components), effective_at=now)
