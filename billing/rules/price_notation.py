"""Writes unit prices as the operator wrote them in the price list."""

from collections.abc import Iterator, Mapping
from typing import Any

from billing.rules.prices import PICO_PER_MICRO, parse_price


class PriceNotation:
    """The notations of one price list, whose prices may stand at its top level or within it, such as for image sizes."""

    def __init__(self, components: Mapping[str, Any]) -> None:
        self._written = {(name, parse_price(price)): price for name, price in _prices(components)}

    def of(self, component: str, price_pico: int) -> str:
        """Return a price in micro-USD as it is written for the component, else as it is written for another one, else as
        the shortest decimal."""
        if (written := self._written.get((component, price_pico))) is not None:
            return written
        others = (written for (_, price), written in self._written.items() if price == price_pico)
        return next(others, _shortest(price_pico))


def _prices(components: Mapping[str, Any], within: str | None = None) -> Iterator[tuple[str, str]]:
    for name, value in components.items():
        if isinstance(value, str):
            yield within or name, value
        elif isinstance(value, Mapping):
            yield from _prices(value, "image" if name == "image" else within)
        elif isinstance(value, list):
            for each in value:
                yield from _prices(each, within)


def _shortest(price_pico: int) -> str:
    whole, fraction = divmod(price_pico, PICO_PER_MICRO)
    return f"{whole}.{fraction:06}".rstrip("0").rstrip(".")
