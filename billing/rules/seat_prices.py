"""Selects the dated seat price that a month is billed at."""

from collections.abc import Iterable
from datetime import datetime


def price_of_month(history: Iterable[tuple[datetime, int]], month_start: datetime) -> int:
    """Return the single price of a month in micro-USD: the one in force when it began, else the product's first price.

    So a month costs price x seat-days / days of the month, and a price change within a month takes effect with the
    next one. Raises ValueError for a product that never had a price.
    """
    dated = sorted(history)
    if not dated:
        raise ValueError("the product has no price")
    before = [price for effective_at, price in dated if effective_at <= month_start]
    return before[-1] if before else dated[0][1]
