"""What the ledger charged for a call: from which credits, and for what."""

from billing.models import Call, Transfer
from billing.rules.charge_components import Component, Outcome, components_of
from billing.rules.price_notation import PriceNotation
from billing.rules.prices import PriceList
from billing.rules.quantities import QUANTITY_NAMES, Quantities

LOT = "lot:"


def by_lot(usage_id: str) -> list[tuple[str, int]]:
    """List the credits that a call was charged to, each with its micro-USD, in spending order."""
    charges = Transfer.objects.filter(source=usage_id, kind="charge", debit_account__startswith=LOT).order_by("seq")
    return [(charge.debit_account.removeprefix(LOT), charge.amount_microusd) for charge in charges]


def components(call: Call) -> list[Component]:
    """List the components of a settled call's charge, at the prices it was charged at; empty for any other call."""
    used = getattr(call, "usage_record", None)
    if used is None:
        return []
    counts = {name: getattr(used, name) for name in QUANTITY_NAMES}
    is_metered = any(count is not None for count in counts.values())
    outcome = Outcome(
        charge_microusd=used.charge_microusd,
        cost_microusd=used.charge_microusd + call.overrun_microusd,
        hold_microusd=call.hold_microusd,
        is_decided=used.basis == "operator" or (call.resolution == "upstream" and not is_metered),
    )
    return components_of(Quantities(**counts, service_tier=used.service_tier), PriceList.parse(_price(call)), outcome)


def notation(call: Call) -> PriceNotation:
    """Return how the prices that a call was charged at are written."""
    return PriceNotation(_price(call))


def _price(call: Call) -> dict[str, object]:
    taken = getattr(call, "takeover", None)
    version = taken.price_version if taken else call.price_version
    components: dict[str, object] = version.components
    return components
