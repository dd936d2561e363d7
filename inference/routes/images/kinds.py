"""Sizes and qualities of images: those the caller left open, those with a price, and those that the response states."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from billing.rules.prices import PriceList
from gateway.core.contract.errors import ModelUnavailable

AUTO = "auto"
OLDER_DEFAULTS = {"size": "1024x1024", "quality": "standard"}
"""The default of the vendor's older models, whose responses do not state the kind."""


class Kind(NamedTuple):
    """A size and a quality; None if the model chooses."""

    size: str | None
    quality: str | None

    def fits(self, kind: str) -> bool:
        """Return whether an image of this `size/quality` matches."""
        size, _, quality = kind.partition("/")
        return self.size in (None, size) and self.quality in (None, quality)


def most_expensive(prices: PriceList, requested: Kind) -> str | None:
    """Return the most expensive priced kind that an image may have; None if all kinds have one price.

    Raises ModelUnavailable naming the member if there is no such price.
    """
    if not prices.images:
        return None
    fitting = [kind for kind in prices.images if requested.fits(kind)]
    if fitting:
        return max(fitting, key=lambda kind: prices.images[kind])
    param = "quality" if any(Kind(requested.size, None).fits(kind) for kind in prices.images) else "size"
    raise ModelUnavailable(f"This model has no price for images of this {param}.", param=param)


def kind_of(prices: PriceList, requested: Kind, properties: Mapping[str, Any]) -> str | None:
    """Return the kind that an image is charged as. `properties` is the response, or an event, which may state `size` and
    `quality`.

    Unstated properties are as requested; if they were not requested either, the default of older models, otherwise the
    most expensive possible one. The kind may have no price if the response states a different one than requested.
    """
    if not prices.images:
        return None
    stated = Kind(_stated(properties, "size") or requested.size, _stated(properties, "quality") or requested.quality)
    if stated.size and stated.quality:
        return f"{stated.size}/{stated.quality}"
    older = Kind(stated.size or OLDER_DEFAULTS["size"], stated.quality or OLDER_DEFAULTS["quality"])
    found = "/".join(filter(None, older))
    if found in prices.images:
        return found
    fitting = [kind for kind in prices.images if stated.fits(kind)]
    return max(fitting, key=lambda kind: prices.images[kind], default=found)


def _stated(properties: Mapping[str, Any], name: str) -> str | None:
    value = properties.get(name)
    return value if isinstance(value, str) and value != AUTO else None
