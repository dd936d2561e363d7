"""Tests a call that is not made: whether its caller may make it, and could pay for it."""

from datetime import UTC, datetime

from billing.operations.ledger import HoldOutcome
from gateway.core import database
from gateway.core.contract.errors import ModelUnavailable
from gateway.core.contract.ids import new_id
from inference.interface.model import PriceVersion, ServedModel
from inference.interface.request import BoundedRequest
from inference.metering import uncharged
from inference.metering.admission import Arrival, Checked, Identity
from inference.metering.hold import trial_element
from inference.rules.terms import Terms


async def is_covered(arrival: Arrival, model: ServedModel, price: PriceVersion, request: BoundedRequest) -> bool:
    """Record the proof, and return whether the caller could place this hold now. Raises the catalogue's error for a caller
    without access."""
    checked = Checked(
        arrival=arrival,
        identity=Identity(terms=Terms(None, request.hold_microusd), digest=b"", body_sha256=b""),
        model=model,
        price=price,
        request=request,
        usage_id=new_id("use"),
        public_id="",
    )
    uncharged.count(arrival.principal)
    opened = await database.run(trial_element(checked))
    hold = opened.admitted()
    return hold is not None and hold.outcome is HoldOutcome.FRESH


def price_of(model: ServedModel) -> PriceVersion:
    """Return the model's price in force. Raises ModelUnavailable if it has none or is not served."""
    price = model.price_at(datetime.now(UTC))
    if price is None or not model.is_served:
        raise ModelUnavailable
    return price
