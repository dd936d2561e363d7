"""The one function that computes the cost of quantities: of a hold, of a charge, and of each part that is shown.

Costs are summed exactly in pico-USD and rounded up once, to whole micro-USD.
"""

from collections.abc import Mapping
from dataclasses import replace

from billing.rules.prices import PICO_PER_MICRO, PriceList
from billing.rules.quantities import QUANTITY_NAMES, Quantities

BYTES_PER_KILOBYTE = 1000
USAGE_COLUMNS = frozenset({*QUANTITY_NAMES, "service_tier", "price_band"})
_INPUT_TEXT = frozenset({"input_token", "input_kilobyte"})


def cost_microusd(used: Quantities, prices: PriceList) -> int:
    """Compute the exact cost of the quantities and round it up, once, to whole micro-USD."""
    return -(-cost_pico(used, prices.in_force(used)) // PICO_PER_MICRO)


def cost_pico(used: Quantities, prices: PriceList) -> int:
    """Compute the cost at prices that are already those of the usage's band and service tier. It is monotone in every
    quantity."""
    total = 0
    for component, count in units_of(used).items():
        if count:
            total += count * unit_price(component, used, prices)
    return total


def unit_price(component: str, used: Quantities, prices: PriceList) -> int:
    """Return the price of a unit in pico-USD. Raises PriceError if the images of this kind have none."""
    return prices.image_price(used.image_kind) if component == "image" else prices.price(component)


def usage_of(used: Quantities, prices: PriceList) -> dict[str, int | str]:
    """Return the usage record of quantities at these prices: their counts, service tier and band, by column."""
    usage: dict[str, int | str] = {**used.counts()}
    if not prices.bands and not prices.service_tiers:
        return usage
    if used.service_tier is not None and used.service_tier in prices.service_tiers:
        usage["service_tier"] = used.service_tier
    if (above := prices.band_above(used)) is not None:
        usage["price_band"] = above
    return usage


def with_charged_items(bound: Quantities, prices: PriceList, images: int = 0) -> Quantities:
    """Return the quantities with the items that `input_item` charges: images if the price also has a component for text,
    otherwise every input, as they are."""
    is_mixed = "input_item" in prices.unit_prices and bool(_INPUT_TEXT & prices.components)
    return replace(bound, items=images) if is_mixed else bound


def units_of(used: Quantities) -> Mapping[str, int]:
    """Count the units of each component; no unit counts in two components."""
    cached, audio_in = used.cached_input_tokens or 0, used.input_audio_tokens or 0
    written, written_1h = used.cache_write_tokens or 0, used.cache_write_1h_tokens or 0
    audio_out = used.output_audio_tokens or 0
    return {
        "input_token": (used.input_tokens or 0) - cached - written - audio_in,
        "cached_input_token": cached,
        "cache_write_token": written - written_1h,
        "cache_write_1h_token": written_1h,
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
