"""Lists the components of a charge: tokens of text and audio, images, seconds, and so on."""

from dataclasses import dataclass

from billing.rules.cost import unit_price, units_of
from billing.rules.prices import PriceError, PriceList
from billing.rules.quantities import Quantities
from gateway.core.contract.amounts import pico_decimals, usd_of_pico

MILLION = 1_000_000

# What a component counts, and the number of units that its price is shown for.
COMPONENTS = {
    "input_token": ("Input tokens", MILLION, "a million"),
    "cached_input_token": ("Input tokens from the cache", MILLION, "a million"),
    "cache_write_token": ("Input tokens written to the cache", MILLION, "a million"),
    "cache_write_1h_token": ("Input tokens written to the cache for an hour", MILLION, "a million"),
    "output_token": ("Output tokens", MILLION, "a million"),
    "input_audio_token": ("Input tokens of sound", MILLION, "a million"),
    "output_audio_token": ("Output tokens of sound", MILLION, "a million"),
    "image": ("Images", 1, "each"),
    "input_character": ("Characters", MILLION, "a million"),
    "audio_second": ("Seconds of sound", 1, "each"),
    "input_kilobyte": ("Kilobytes of input", 1, "each"),
    "input_item": ("Items", 1, "each"),
    "request": ("Request", 1, "each"),
}


@dataclass(frozen=True, slots=True)
class Part:
    """One part of a charge: the units, their number, the price and the exact amount.

    `price` and `amount` are empty if the unit price is unknown; `per` is what the price is for.
    """

    name: str
    count: int
    price: str
    per: str
    amount: str


def parts(used: Quantities, prices: PriceList) -> list[Part]:
    """List the priced components of a cost that were used."""
    prices = prices.in_force(used)
    counted = [(name, count) for name, count in units_of(used).items() if count and _is_priced(name, prices)]
    priced = [(name, count, _price(name, used, prices)) for name, count in counted]
    places = max((pico_decimals(count * price) for _, count, price in priced if price is not None), default=0)
    return [_part(name, count, price, places) for name, count, price in priced]


def _is_priced(component: str, prices: PriceList) -> bool:
    return bool((component == "image" and prices.images) or prices.price(component))


def _price(component: str, used: Quantities, prices: PriceList) -> int | None:
    """Return the unit price in pico-USD; None if the usage record does not determine it, as for image sizes."""
    try:
        return unit_price(component, used, prices)
    except PriceError:
        return None


def _part(component: str, count: int, price: int | None, places: int) -> Part:
    name, of, per = COMPONENTS[component]
    if price is None:
        return Part(name, count, "", "", "")
    return Part(name, count, usd_of_pico(price * of), per, usd_of_pico(count * price, places))
