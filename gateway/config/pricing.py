"""Dates the price of an alias or a raw model: rows of prices are added, never edited."""

from billing.operations import prices
from billing.rules.prices import show
from gateway.config.prices import PriceRow
from gateway.config.run import CREATED, UNCHANGED, Run


def set_price(run: Run, name: str, price: PriceRow) -> None:
    """Add a price version that holds from now on, unless the one in force says the same."""
    components = price.components()
    version = prices.publish(name, components, now=run.now)
    if version is None:
        run.tell(UNCHANGED, f"price of {name}")
    else:
        shown = show(components) or "nothing"
        run.tell(CREATED, f"price of {name} from {version.effective_at:%Y-%m-%d %H:%M:%S} UTC: {shown}")
