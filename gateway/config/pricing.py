"""Dates the price of an alias or a raw model: rows of prices are added, never edited."""

from billing.models import PriceVersion
from billing.operations import prices
from billing.rules.prices import PriceBook, show
from gateway.config.prices import PriceRow
from gateway.config.problems import Path
from gateway.config.run import CREATED, UNCHANGED, WARNING, Run
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


def check_unsold(
    run: Run, path: Path, model: Alias | RawModel, before: PriceVersion | None, price: PriceRow | None, *, stated: bool
) -> None:
    """Look for routes of a model that its price does not cover; `before` was in force, `price` is the file's, if any.

    It is a problem where the file names its routes (`stated`), or where the route could be called until now; otherwise a
    warning, as a model may serve some of its kind's routes. No price at all is neither: it may still be set in the console.
    """
    if before is None and price is None:
        return
    book_before = PriceBook.parse(before.components if before else {})
    book = PriceBook.parse(price.components()) if price else book_before
    for unsold in unsold_routes(model, book):
        is_lost = before is not None and not book_before.missing(unsold.name)
        if stated or is_lost:
            run.refuse(path, f"{unsold}; {REMEDY}")
        else:
            run.tell(WARNING, str(unsold))
