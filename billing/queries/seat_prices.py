"""The dated prices of seats."""

from collections import defaultdict
from collections.abc import Iterable
from datetime import datetime

from billing.models import SeatPrice
from billing.rules.seat_prices import price_of_month


def of_month(products: Iterable[str], month_start: datetime) -> dict[str, int]:
    """Return the price in micro-USD at which each product's seats are billed in the month that starts at
    `month_start`."""
    histories: dict[str, list[tuple[datetime, int]]] = defaultdict(list)
    rows = SeatPrice.objects.filter(product__in=products).values_list("product", "effective_at", "price_microusd")
    for product, effective_at, price_microusd in rows:
        histories[product].append((effective_at, price_microusd))
    return {product: price_of_month(history, month_start) for product, history in histories.items()}
