"""Words for the components of a charge, as its page shows them."""

from collections.abc import Sequence
from dataclasses import dataclass

from billing.rules.charge_components import Component
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
    "cap": ("Beyond the hold", 1, ""),
    "adjustment": ("Adjustment", 1, ""),
}


@dataclass(frozen=True, slots=True)
class Part:
    """One part of a charge: the units, their number, the price and the exact amount.

    `count` is None if nothing was counted; `price` is empty if the unit price is unknown; `per` is what the price is for.
    """

    name: str
    count: int | None
    price: str
    per: str
    amount: str


def parts(components: Sequence[Component]) -> list[Part]:
    """Put the components into words, with amounts of equally many decimals."""
    places = max((pico_decimals(component.amount) for component in components), default=0)
    return [_part(component, places) for component in components]


def _part(component: Component, places: int) -> Part:
    name, of, per = COMPONENTS[component.name]
    amount = usd_of_pico(component.amount, places)
    if component.unit_price is None:
        return Part(name, component.quantity, "", "", amount)
    return Part(name, component.quantity, usd_of_pico(component.unit_price * of), per, amount)
