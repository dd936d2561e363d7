"""What the ledger charged for a call: from which credits, and for what."""

from billing.models import Call, Transfer
from billing.rules import charge_parts
from billing.rules.prices import PriceList
from billing.rules.quantities import QUANTITY_NAMES, Quantities

LOT = "lot:"


def by_lot(usage_id: str) -> list[tuple[str, int]]:
    """List the credits that a call was charged to, each with its micro-USD, in spending order."""
    charges = Transfer.objects.filter(source=usage_id, kind="charge", debit_account__startswith=LOT).order_by("seq")
    return [(charge.debit_account.removeprefix(LOT), charge.amount_microusd) for charge in charges]


def parts(call: Call) -> list[charge_parts.Part]:
    """List the components of a settled call's cost, at the prices it was charged at; empty for any other call."""
    used = getattr(call, "usage_record", None)
    if used is None:
        return []
    counts = {name: getattr(used, name) for name in QUANTITY_NAMES}
    taken = getattr(call, "takeover", None)
    version = taken.price_version if taken else call.price_version
    return charge_parts.parts(Quantities(**counts), PriceList.parse(version.components))
