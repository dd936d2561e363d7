"""Dates the price of an alias or a raw model: price rows are added, never edited."""

from datetime import datetime
from typing import Any

from billing.models import PriceVersion
from billing.operations import prices
from billing.queries.prices import current
from billing.rules.prices import PriceList, show
from gateway.config.prices import PriceRow, in_order
from gateway.config.problems import Path
from gateway.config.run import CREATED, UNCHANGED, WARNING, Run
from inference.metering.obstacles import unsold_routes
from inference.models import Alias, RawModel

REMEDY = "price it, name in `routes` what is sold, or set `enabled: false`"


def set_price(run: Run, name: str, price: PriceRow) -> None:
    """Add a price version that applies from now on, unless the one in force is the same."""
    components = price.components()
    version = prices.publish(name, components, now=run.now)
    if version is None:
        run.add_line(UNCHANGED, f"price of {name}")
    else:
        shown = show(components) or "nothing"
        what = f"price of {name} from {version.effective_at:%Y-%m-%d %H:%M:%S} UTC: {shown}"
        run.add_change(CREATED, what, version)


def exported_prices(now: datetime) -> dict[str, dict[str, Any]]:
    """Return the prices in force by model, as a file states them."""
    return {name: in_order(version.components) for name, version in current(now).items()}


def check_unsold(
    run: Run, path: Path, model: Alias | RawModel, before: PriceVersion | None, price: PriceRow | None, *, stated: bool
) -> None:
    """Check for routes of a model that its price does not cover; `before` was in force, `price` is the file's, if any.

    An uncovered route is a problem if the file names the routes (`stated`), or if the route was callable before;
    otherwise a warning, because a model may serve only some routes of its kind. No price at all is neither: the console
    may set it.
    """
    if before is None and price is None:
        return
    list_before = PriceList.parse(before.components if before else {})
    price_list = PriceList.parse(price.components()) if price else list_before
    for unsold in unsold_routes(model, price_list):
        is_lost = before is not None and not list_before.missing(unsold.name)
        if stated or is_lost:
            run.refuse(path, f"{unsold}; {REMEDY}")
        else:
            run.add_line(WARNING, str(unsold))
