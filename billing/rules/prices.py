"""Prices, and the one function that computes the cost of quantities.

Prices are whole pico-USD per unit (micro-USD x 10^-6), so that a sum over components is exact; it is rounded up once,
to whole micro-USD. The function is monotone in every quantity, and computes both the hold of a call and its charge.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from billing.rules.quantities import Quantities
from gateway.core.contract.aliases import Route

PICO_PER_MICRO = 10**6
PRICE_MAX_MICROUSD = 10**9
BYTES_PER_KILOBYTE = 1000

COMPONENTS = (
    "input_token",
    "cached_input_token",
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
TOKEN_COMPONENTS = COMPONENTS[:5]
_INPUT_TEXT = frozenset({"input_token", "input_kilobyte"})

_DECIMAL = re.compile(r"(0|[1-9][0-9]{0,9})(?:\.([0-9]{1,6}))?", re.ASCII)
_IMAGE_KIND = re.compile(r"[A-Za-z0-9_.-]{1,32}/[A-Za-z0-9_.-]{1,32}", re.ASCII)

_TEXT = (frozenset({"input_token", "output_token"}),)
_INPUT = (frozenset({"input_token"}), frozenset({"input_kilobyte"}), frozenset({"input_item"}))
_AUDIO = frozenset({"input_token", "output_token", "input_audio_token", "output_audio_token"})

# The sets of components that price a route completely. A flat price per request is complete for every route.
NEEDED: dict[Route, tuple[frozenset[str], ...]] = {
    Route.CHAT_COMPLETIONS: _TEXT,
    Route.RESPONSES: _TEXT,
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
class PriceList:
    """The prices of one alias in pico-USD per unit, by component, and by `size/quality` if image prices vary."""

    unit_prices: Mapping[str, int] = field(default_factory=dict)
    images: Mapping[str, int] = field(default_factory=dict)

    @classmethod
    def parse(cls, components: Mapping[str, Any]) -> "PriceList":
        """Read decimal strings of micro-USD with at most 6 decimals; `image` may map `size/quality` to such a string.

        Raises PriceError.
        """
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
        return cls(unit_prices, images)

    @property
    def components(self) -> frozenset[str]:
        """Name the components that have a price."""
        return frozenset(self.unit_prices) | ({"image"} if self.images else frozenset())

    @property
    def needs_token_usage(self) -> bool:
        """Return whether the charge depends on the upstream's token counts."""
        return any(self.unit_prices.get(name) for name in TOKEN_COMPONENTS)

    def serves(self, route: Route) -> bool:
        """Return whether every component that the route needs has a price."""
        return "request" in self.unit_prices or any(needed <= self.components for needed in NEEDED[route])

    def missing(self, route: Route) -> tuple[str, ...]:
        """Return the smallest set of components that still need a price before the route can be sold; empty if none."""
        if self.serves(route):
            return ()
        lacking = min((needed - self.components for needed in NEEDED[route]), key=len)
        return tuple(name for name in COMPONENTS if name in lacking)

    def worst_case(self, *, audio_input: bool = False, audio_output: bool = False) -> "PriceList":
        """Return the prices for computing a hold: each token at the highest price that may apply to it."""
        inputs = ["input_token", "cached_input_token", *(["input_audio_token"] if audio_input else [])]
        outputs = ["output_token", *(["output_audio_token"] if audio_output else [])]
        highest = {"input_token": self._highest(inputs), "output_token": self._highest(outputs)}
        others = {name: price for name, price in self.unit_prices.items() if name not in TOKEN_COMPONENTS}
        return replace(self, unit_prices=others | {name: price for name, price in highest.items() if price is not None})

    def price(self, component: str) -> int:
        """Return a unit's price in pico-USD, or 0 if there is none; cached and audio tokens default to plain tokens."""
        found = self.unit_prices.get(component)
        if found is None and component in _PLAIN_TOKEN:
            found = self.unit_prices.get(_PLAIN_TOKEN[component])
        return found or 0

    def image_price(self, kind: str | None) -> int:
        """Return the price of one image in pico-USD. Raises PriceError if this size and quality has none."""
        if not self.images:
            return self.price("image")
        price = self.images.get(kind or "")
        if price is None:
            raise PriceError(f"image {kind} has no price")
        return price

    def _highest(self, components: list[str]) -> int | None:
        return max((self.unit_prices[name] for name in components if name in self.unit_prices), default=None)


_PLAIN_TOKEN = {
    "cached_input_token": "input_token",
    "input_audio_token": "input_token",
    "output_audio_token": "output_token",
}


def cost_microusd(used: Quantities, prices: PriceList) -> int:
    """Compute the exact cost of the quantities and round it up, once, to whole micro-USD."""
    total = sum(count * _unit_price(name, used, prices) for name, count in units_of(used).items() if count)
    return -(-total // PICO_PER_MICRO)


def with_charged_items(bound: Quantities, prices: PriceList, images: int = 0) -> Quantities:
    """Return the quantities with the items that `input_item` charges: images if the price also has a component for text,
    otherwise every input, as they are."""
    is_mixed = "input_item" in prices.unit_prices and bool(_INPUT_TEXT & prices.components)
    return replace(bound, items=images) if is_mixed else bound


def units_of(used: Quantities) -> dict[str, int]:
    """Count the units of each component; no unit counts in two components."""
    cached, audio_in = used.cached_input_tokens or 0, used.input_audio_tokens or 0
    audio_out = used.output_audio_tokens or 0
    return {
        "input_token": (used.input_tokens or 0) - cached - audio_in,
        "cached_input_token": cached,
        "output_token": (used.output_tokens or 0) - audio_out,
        "input_audio_token": audio_in,
        "output_audio_token": audio_out,
        "image": used.images or 0,
        "input_character": used.input_characters or 0,
        "audio_second": used.seconds or 0,
        "input_kilobyte": -(-(used.input_bytes or 0) // BYTES_PER_KILOBYTE),
        "input_item": used.items or 0,
        "request": 1,
    }


def _unit_price(component: str, used: Quantities, prices: PriceList) -> int:
    return prices.image_price(used.image_kind) if component == "image" else prices.price(component)


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
    """Render the components of a price in one line, image kinds in parentheses."""
    return ", ".join(f"{name} {_show(price)}" for name, price in components.items())


def _named(name: str, value: Any, kind: Any = None) -> int:
    try:
        if kind is not None:
            check_image_kind(kind)
        return parse_price(value)
    except PriceError as error:
        raise PriceError(f"{name} {error}") from None


def _show(price: str | Mapping[str, str]) -> str:
    return price if isinstance(price, str) else f"({show(price)})"
