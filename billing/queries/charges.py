"""The charges that the ledger posted for a call."""

from billing.models import Transfer

LOT = "lot:"


def by_lot(usage_id: str) -> list[tuple[str, int]]:
    """List the credits that a call was charged to, each with its micro-USD, in spending order."""
    charges = Transfer.objects.filter(source=usage_id, kind="charge", debit_account__startswith=LOT).order_by("seq")
    return [(charge.debit_account.removeprefix(LOT), charge.amount_microusd) for charge in charges]
