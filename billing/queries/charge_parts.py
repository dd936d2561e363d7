"""The components of a call's charge."""

from billing.models import Call
from billing.rules import charge_parts
from billing.rules.prices import PriceList
from billing.rules.quantities import QUANTITY_NAMES, Quantities


def of_call(call: Call) -> list[charge_parts.Part]:
    """List the components of a settled call's cost, at the prices it was charged at; empty for any other call."""
    used = getattr(call, "usage_record", None)
    if used is None:
        return []
    counts = {name: getattr(used, name) for name in QUANTITY_NAMES}
    taken = getattr(call, "takeover", None)
    version = taken.price_version if taken else call.price_version
    return charge_parts.parts(Quantities(**counts), PriceList.parse(version.components))
