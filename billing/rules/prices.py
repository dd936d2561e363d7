"""Price lists: the price of each component, by the length of the input and by service tier.

Prices are whole pico-USD per unit (micro-USD x 10^-6), so that a sum over components is exact.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any

from billing.rules.quantities import QUANTITY_MAX, Quantities
from gateway.core.contract.aliases import Route

PICO_PER_MICRO = 10**6
PRICE_MAX_MICROUSD = 10**9

COMPONENTS = (
    "input_token",
    "cached_input_token",
    "cache_write_token",
    "cache_write_1h_token",
    "output_token",
    "input_audio_token",
    "output_audio_token",
    "image",
    "input_character",
    "audio_second",
    "input_kilobyte",
    "input_item",
    "request",
)
TOKEN_COMPONENTS = COMPONENTS[:7]

PLAIN_TOKEN = {
    "cached_input_token": "input_token",
    "cache_write_token": "input_token",
    "cache_write_1h_token": "cache_write_token",
    "input_audio_token": "input_token",
    "output_audio_token": "output_token",
}
"""The component whose price a token has that has none of its own."""

BANDS_MAX = SERVICE_TIERS_MAX = 16
DEFAULT_TIERS = frozenset({"default", "auto", "standard", "standard_only"})
"""Names that requests and answers use for the prices outside of `service_tiers`."""

_DECIMAL = re.compile(r"(0|[1-9][0-9]{0,9})(?:\.([0-9]{1,6}))?", re.ASCII)
_IMAGE_KIND = re.compile(r"[A-Za-z0-9_.-]{1,32}/[A-Za-z0-9_.-]{1,32}", re.ASCII)
_SERVICE_TIER = re.compile(r"[a-z][a-z0-9_-]{0,31}", re.ASCII)

_TEXT = (frozenset({"input_token", "output_token"}),)
_INPUT = (frozenset({"input_token"}), frozenset({"input_kilobyte"}), frozenset({"input_item"}))
_AUDIO = frozenset({"input_token", "output_token", "input_audio_token", "output_audio_token"})

# The sets of components that price a route completely. A flat price per request is complete for every route.
NEEDED: dict[Route, tuple[frozenset[str], ...]] = {
    Route.CHAT_COMPLETIONS: _TEXT,
    Route.RESPONSES: _TEXT,
    Route.MESSAGES: _TEXT,
    Route.EMBEDDINGS: _INPUT,
    Route.EMBEDDINGS_CONTEXTUAL: _INPUT[:2],
    Route.LATE_INTERACTION: _INPUT[:2],
    Route.RERANK: (frozenset({"input_kilobyte"}),),
    Route.IMAGES: (frozenset({"image"}),),
    Route.SPEECH: (frozenset({"input_character"}),),
    Route.TRANSCRIPTIONS: (frozenset({"audio_second"}),),
    Route.TRANSLATIONS: (frozenset({"audio_second"}),),
    Route.REALTIME: (_AUDIO,),
    Route.JUDGEMENT: (frozenset({"input_token"}),),
}


class PriceError(ValueError):
    """An invalid price; the message names the component and the expected form."""


@dataclass(frozen=True, slots=True)
class Band:
    """The prices of a request whose whole input is more than `above_input_tokens`."""

    above_input_tokens: int
    prices: "PriceList"


@dataclass(frozen=True, slots=True)
class PriceList:
    """The prices of one alias in pico-USD per unit, by component, and by `size/quality` if image prices vary.

    `bands` are in ascending order, `service_tiers` have bands of their own. Both are complete: what the operator leaves out
    of a band or tier has the price that surrounds it.
    """

    unit_prices: Mapping[str, int] = field(default_factory=dict)
    images: Mapping[str, int] = field(default_factory=dict)
    bands: tuple[Band, ...] = ()
    service_tiers: Mapping[str, "PriceList"] = field(default_factory=dict)

    @classmethod
    def parse(cls, components: Mapping[str, Any]) -> "PriceList":
        """Read decimal strings of micro-USD with at most 6 decimals; `image` may map `size/quality` to such a string,
        `bands` is a list of maps, `service_tiers` a map of maps.

        Raises PriceError.
        """
        plain = {name: value for name, value in components.items() if name not in _VARIANTS}
        base = _read_plain(plain)
        bands = _read_bands(components["bands"], base) if "bands" in components else ()
        tiers = _read_tiers(components["service_tiers"], base) if "service_tiers" in components else {}
        return replace(base, bands=bands, service_tiers=tiers)

    def in_force(self, used: Quantities) -> "PriceList":
        """Return the prices of a request with this usage: those of its service tier, and of its band."""
        prices = self.of_tier(used.service_tier)
        band = prices.band_of(used.input_tokens)
        return prices if band is None else band.prices

    def band_above(self, used: Quantities) -> int | None:
        """Return the threshold of the usage's band, None below all bands."""
        band = self.of_tier(used.service_tier).band_of(used.input_tokens)
        return None if band is None else band.above_input_tokens

    @property
    def components(self) -> frozenset[str]:
        """Name the components that have a price."""
        return frozenset(self.unit_prices) | ({"image"} if self.images else frozenset())

    @property
    def needs_token_usage(self) -> bool:
        """Return whether the charge depends on the upstream's token counts."""
        return any(prices.unit_prices.get(name) for prices in self.variants() for name in TOKEN_COMPONENTS)

    def serves(self, route: Route) -> bool:
        """Return whether every component that the route needs has a price."""
        return "request" in self.unit_prices or any(needed <= self.components for needed in NEEDED[route])

    def missing(self, route: Route) -> tuple[str, ...]:
        """Return the smallest set of components that still need a price before the route can be sold; empty if none."""
        if self.serves(route):
            return ()
        lacking = min((needed - self.components for needed in NEEDED[route]), key=len)
        return tuple(name for name in COMPONENTS if name in lacking)

    def price(self, component: str) -> int:
        """Return a unit's price in pico-USD, or 0 if there is none; other tokens default to plain ones."""
        found = self.unit_prices.get(component)
        if found is None and component in PLAIN_TOKEN:
            return self.price(PLAIN_TOKEN[component])
        return found or 0

    def image_price(self, kind: str | None) -> int:
        """Return the price of one image in pico-USD. Raises PriceError if this size and quality has none."""
        if not self.images:
            return self.price("image")
        price = self.images.get(kind or "")
        if price is None:
            raise PriceError(f"image {kind} has no price")
        return price

    def of_tier(self, name: str | None) -> "PriceList":
        """Return the prices of a service tier, the default ones if it has none."""
        return self.service_tiers.get(name, self) if name and self.service_tiers else self

    def band_of(self, input_tokens: int | None) -> Band | None:
        """Return the band of a request with this whole input, None below all bands."""
        for band in reversed(self.bands):
            if (input_tokens or 0) > band.above_input_tokens:
                return band
        return None

    def variants(self) -> Iterator["PriceList"]:
        """Return these prices, and those of each band and service tier."""
        yield self
        yield from (band.prices for band in self.bands)
        for tier in self.service_tiers.values():
            yield from tier.variants()


_VARIANTS = frozenset({"bands", "service_tiers"})


def _read_plain(components: Mapping[str, Any]) -> PriceList:
    unit_prices: dict[str, int] = {}
    images: dict[str, int] = {}
    for name, value in components.items():
        if name not in COMPONENTS:
            raise PriceError(f"{name} is not a price component")
        if name == "image" and isinstance(value, Mapping):
            images = {kind: _named(f"image {kind}", price, kind) for kind, price in value.items()}
        else:
            unit_prices[name] = _named(name, value)
    if components.get("image") == {}:
        raise PriceError("image has no prices")
    return PriceList(unit_prices, images)


def _read_bands(value: Any, base: PriceList) -> tuple[Band, ...]:
    if not isinstance(value, list) or not 0 < len(value) <= BANDS_MAX:
        raise PriceError(f"bands must be a list of 1 to {BANDS_MAX} bands")
    bands = [_read_band(f"bands[{index}]", band, base) for index, band in enumerate(value)]
    for index, (band, following) in enumerate(pairwise(bands), start=1):
        if following.above_input_tokens <= band.above_input_tokens:
            raise PriceError(f"bands[{index}].above_input_tokens must be more than {band.above_input_tokens}")
    return tuple(bands)


def _read_band(where: str, value: Any, base: PriceList) -> Band:
    if not isinstance(value, Mapping):
        raise PriceError(f"{where} must be a map of prices")
    above = check_threshold(value.get("above_input_tokens"), f"{where}.above_input_tokens")
    own = {name: price for name, price in value.items() if name != "above_input_tokens"}
    return Band(above, _with_tokens(where, own, base))


def _read_tiers(value: Any, base: PriceList) -> dict[str, PriceList]:
    if not isinstance(value, Mapping) or not 0 < len(value) <= SERVICE_TIERS_MAX:
        raise PriceError(f"service_tiers must be a map of 1 to {SERVICE_TIERS_MAX} tiers")
    return {check_service_tier(name): _read_tier(f"service_tiers.{name}", tier, base) for name, tier in value.items()}


def _read_tier(where: str, value: Any, base: PriceList) -> PriceList:
    if not isinstance(value, Mapping):
        raise PriceError(f"{where} must be a map of prices")
    own = {name: price for name, price in value.items() if name != "bands"}
    tier = base if "bands" in value and not own else _with_tokens(where, own, base)
    try:
        return replace(tier, bands=_read_bands(value["bands"], tier)) if "bands" in value else tier
    except PriceError as error:
        raise PriceError(f"{where}.{error}") from None


def _with_tokens(where: str, own: Mapping[str, Any], base: PriceList) -> PriceList:
    """Return the surrounding prices, of which a band or a tier replaces those of some tokens."""
    if not own:
        raise PriceError(f"{where} has no prices")
    for name in own:
        if name not in TOKEN_COMPONENTS:
            raise PriceError(f"{where}.{name} is not a price of tokens")
    prices = {name: _named(f"{where}.{name}", value) for name, value in own.items()}
    return replace(base, unit_prices={**base.unit_prices, **prices})


def check_threshold(value: Any, name: str = "") -> int:
    """Return the threshold of a band, or raise PriceError, which begins with `name`."""
    if type(value) is not int or not 1 <= value <= QUANTITY_MAX:
        raise PriceError(f"{name} must be a whole number from 1 to {QUANTITY_MAX}".strip())
    return value


def check_service_tier(name: Any) -> str:
    """Return the name of a priced service tier, or raise PriceError."""
    if not isinstance(name, str) or not _SERVICE_TIER.fullmatch(name):
        raise PriceError('a service tier must be named in lower case, such as "flex"')
    if name in DEFAULT_TIERS:
        raise PriceError(f"service tier {name} cannot be priced: its prices are those outside of service_tiers")
    return name


def check_image_kind(kind: Any) -> str:
    """Return the size and quality of an image, or raise PriceError."""
    if not isinstance(kind, str) or not _IMAGE_KIND.fullmatch(kind):
        raise PriceError('must be size/quality, such as "1024x1024/high"')
    return kind


def parse_price(value: Any) -> int:
    """Read a decimal string of micro-USD in pico-USD, or raise PriceError."""
    match = _DECIMAL.fullmatch(value) if isinstance(value, str) else None
    if match is None:
        raise PriceError('must be a price in micro-USD with at most 6 decimals, such as "0.15"')
    whole, decimals = match.group(1), match.group(2) or ""
    price = int(whole) * PICO_PER_MICRO + int(decimals.ljust(6, "0"))
    if price > PRICE_MAX_MICROUSD * PICO_PER_MICRO:
        raise PriceError(f"must be at most {PRICE_MAX_MICROUSD} micro-USD")
    return price


def show(components: Mapping[str, Any]) -> str:
    """Render the components of a price in one line; image kinds, bands and service tiers in parentheses."""
    return ", ".join(f"{name} {_show(price)}" for name, price in components.items())


def _named(name: str, value: Any, kind: Any = None) -> int:
    try:
        if kind is not None:
            check_image_kind(kind)
        return parse_price(value)
    except PriceError as error:
        raise PriceError(f"{name} {error}") from None


def _show(price: Any) -> str:
    if isinstance(price, list):
        return f"({', '.join(map(_show_band, price))})"
    return f"({show(price)})" if isinstance(price, Mapping) else str(price)


def _show_band(band: Mapping[str, Any]) -> str:
    prices = {name: price for name, price in band.items() if name != "above_input_tokens"}
    return f"above {band['above_input_tokens']} input tokens {show(prices)}"
