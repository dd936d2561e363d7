"""Dates the price of an alias or a raw model: rows of prices are added, never edited."""

from collections.abc import Mapping
from typing import Any

from billing.operations import prices
from billing.queries.prices import in_force
from billing.rules.prices import PriceBook, show
from gateway.config.prices import PriceRow
from gateway.config.problems import Path
from gateway.config.run import CREATED, UNCHANGED, Run
from inference.metering.obstacles import unsold_routes
from inference.models import Alias, RawModel

REMEDY = "price it, name in `routes` what is sold, or set `enabled: false`"


def set_price(run: Run, name: str, price: PriceRow) -> None:
    """Add a price version that holds from now on, unless the one in force says the same."""
    components = price.components()
    version = prices.publish(name, components, now=run.now)
    if version is None:
        run.tell(UNCHANGED, f"price of {name}")
    else:
        shown = show(components) or "nothing"
        run.tell(CREATED, f"price of {name} from {version.effective_at:%Y-%m-%d %H:%M:%S} UTC: {shown}")


def refuse_unsold(run: Run, path: Path, model: Alias | RawModel, price: PriceRow | None) -> None:
    """Note a problem for each route of the model that the stated price, or else the one in force, leaves unsold.

    No price at all is no problem: it may still be set in the console.
    """
    version = None if price else in_force(str(model), run.now)
    if price is None and version is None:
        return
    components: Mapping[str, Any] = price.components() if price else version.components  # type: ignore[union-attr]
    for unsold in unsold_routes(model, PriceBook.parse(components)):
        run.refuse(path, f"{unsold}; {REMEDY}")
