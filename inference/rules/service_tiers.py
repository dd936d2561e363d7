"""The service tier of a call: the one that it asks for, and the one that it is charged at."""

from typing import Any

from billing.rules.prices import DEFAULT_TIERS, PriceList
from gateway.core.contract.errors import InvalidRequest

DEFAULT = "default"
_ASKS_FOR_THE_DEFAULT = (None, "auto", DEFAULT)
_SAYS_THE_DEFAULT = DEFAULT_TIERS - {"auto"}
"""What answers call the default tier. None was served in `auto`, which only a request can ask for."""


def requested_tier(service_tier: Any, prices: PriceList) -> str | None:
    """Return the tier that a request asks for, None for the default one. Raises InvalidRequest if it has no price."""
    if service_tier in _ASKS_FOR_THE_DEFAULT:
        return None
    if isinstance(service_tier, str) and service_tier in prices.service_tiers:
        return service_tier
    names = [DEFAULT, *sorted(prices.service_tiers)]
    raise InvalidRequest(f"service_tier must be one of {', '.join(names)} for this model.", param="service_tier")


def charged_tier(reported: Any, requested: str | None, prices: PriceList) -> str | None:
    """Return the tier that an answer reports if that is the default or has a price, else the one that was asked for."""
    if isinstance(reported, str) and reported in _SAYS_THE_DEFAULT:
        return None
    return reported if isinstance(reported, str) and reported in prices.service_tiers else requested
