"""Publish prices: dated rows, never edited."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from django.db import transaction

from billing.models import PriceVersion
from billing.queries import prices
from billing.rules.prices import PriceList
from gateway.core.database.turns import take_turn


def take_price_turn(alias: str) -> None:
    """Wait for other transactions that publish a price of this alias, and let later ones wait for the caller's."""
    take_turn("price of " + alias)


@transaction.atomic
def publish(alias: str, components: Mapping[str, Any], *, now: datetime) -> PriceVersion | None:
    """Add a version that applies from now on, or return None if the prices in force are the same.

    Raises PriceError if a component cannot be read.
    """
    price_list = PriceList.parse(components)
    take_price_turn(alias)
    newest = prices.newest(alias)
    if newest is not None and PriceList.parse(newest.components) == price_list:
        return None
    if newest is not None:  # `now` may have been read before somebody else's turn
        now = max(now, newest.effective_at + datetime.resolution)
    return PriceVersion.objects.create(alias=alias, components=dict(components), effective_at=now)
