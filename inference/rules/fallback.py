"""Fallback: another model that takes a call over."""

from dataclasses import dataclass

from inference.rules.model import PriceVersion, ServedModel
from inference.rules.request import BoundedRequest


@dataclass(frozen=True, slots=True)
class Fallback:
    """The model that takes a call over, its prices, and the request sent there. The call's one hold covers the higher
    cost."""

    model: ServedModel
    price: PriceVersion
    request: BoundedRequest
