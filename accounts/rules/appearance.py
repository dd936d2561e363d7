"""The look of the portal: a product's name and light or dark. SPEC: Appearance handoff.

It never selects a client, changes scopes or grants anything.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit

COOKIE = "service_appearance"
COOKIE_SECONDS = 30 * 24 * 3600
DEFAULT_PRODUCT = "service"
THEMES = ("light", "dark")


@dataclass(frozen=True, slots=True)
class Appearance:
    """What to look like; None leaves it to the default and to the person's own device."""

    product: str | None = None
    theme: str | None = None

    def cookie(self) -> str:
        """Write the cookie's value."""
        return f"{self.product or ''}.{self.theme or ''}"


def read_cookie(value: str | None, products: Collection[str]) -> Appearance:
    """Read a cookie of unknown origin; values that are not on the lists are ignored."""
    product, _, theme = (value or "").partition(".")
    return _known(product, theme, products)


def chosen(parameters: Mapping[str, str], referrer: str | None, products: Collection[str]) -> Appearance:
    """Read what a link asks for; if no product is named, a referrer on a product's host names it.

    `https://studio.example/…` and `https://studio.service.example/…` both name `studio`.
    """
    asked = _known(parameters.get("product", ""), parameters.get("theme", ""), products)
    if asked.product:
        return asked
    return Appearance(_product_of(referrer, products), asked.theme)


def merged(now: Appearance, before: Appearance) -> Appearance:
    """Return the combination: what is requested now overrides what was remembered."""
    return Appearance(now.product or before.product, now.theme or before.theme)


def _known(product: str, theme: str, products: Collection[str]) -> Appearance:
    return Appearance(product if product in products else None, theme if theme in THEMES else None)


def _product_of(referrer: str | None, products: Collection[str]) -> str | None:
    try:
        host = urlsplit(referrer or "").hostname or ""
    except ValueError:
        return None
    first_label = host.partition(".")[0]
    return first_label if "." in host and first_label in products else None
