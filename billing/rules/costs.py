"""What an upstream charges the operator for a call."""

from dataclasses import replace

from billing.rules.cost import cost_pico
from billing.rules.prices import PICO_PER_MICRO, PriceList
from billing.rules.quantities import Quantities

COST_MAX_MICROUSD = 10**18
"""A larger cost must be a reporting error, and might not fit its column."""

_COUNTED_BY = {
    "image": "images",
    "input_character": "input_characters",
    "audio_second": "seconds",
    "input_kilobyte": "input_bytes",
    "input_item": "items",
}


def upstream_cost_microusd(used: Quantities, costs: PriceList, service_tier: str | None = None) -> int | None:
    """Compute what an upstream with these prices charges for the quantities in a service tier, that of the usage record;
    None if it charges for nothing that was counted, so that the cost is not known.

    What has no price is not charged by the upstream, except for tokens, which have the defaults of a price. Raises
    PriceError if images of this size and quality have no price.
    """
    if used.service_tier != service_tier:
        used = replace(used, service_tier=service_tier)
    prices = costs.in_force(used)
    if not any(_is_counted(component, used) for component in prices.components):
        return None
    return min(-(-cost_pico(used, prices) // PICO_PER_MICRO), COST_MAX_MICROUSD)


def _is_counted(component: str, used: Quantities) -> bool:
    if component == "request":
        return True
    side = "output_tokens" if component.startswith("output_") else "input_tokens"
    return getattr(used, _COUNTED_BY.get(component, side)) is not None
