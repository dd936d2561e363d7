"""The portal's appearance: a product's name, and a light or dark theme. SPEC: Appearance handoff.

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
    """A product and a theme. None selects the default product or the device's theme."""

    product: str | None = None
    theme: str | None = None

    def cookie(self) -> str:
        """Return the cookie's value."""
        return f"{self.product or ''}.{self.theme or ''}"


def read_cookie(value: str | None, products: Collection[str]) -> Appearance:
    """Parse a cookie of unknown origin. Values that are not allowed are ignored."""
    product, _, theme = (value or "").partition(".")
    return _known(product, theme, products)


def chosen(parameters: Mapping[str, str], referrer: str | None, products: Collection[str]) -> Appearance:
    """Read the appearance that a link requests. If it names no product, the referrer's host may.

    `https://studio.example/…` and `https://studio.service.example/…` both mean `studio`.
    """
    requested = _known(parameters.get("product", ""), parameters.get("theme", ""), products)
    if requested.product:
        return requested
    return Appearance(_product_of(referrer, products), requested.theme)


def merged(now: Appearance, before: Appearance) -> Appearance:
    """Return the combination. What is requested now overrides the remembered values."""
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
