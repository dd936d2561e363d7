"""Another model that takes a call over."""

from dataclasses import dataclass

from inference.rules.model import PriceVersion, ServedModel
from inference.rules.request import BoundedRequest


@dataclass(frozen=True, slots=True)
class Fallback:
    """Who takes a call over, at which prices, and what is sent there. The call's one hold covers the dearer of both."""

    model: ServedModel
    price: PriceVersion
    request: BoundedRequest
