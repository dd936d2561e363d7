"""What an owner used in the current UTC month."""

from datetime import datetime

from django.db.models import Sum

from billing.models import Transfer
from billing.rules.months import month_around
from billing.rules.owners import Owner


def charged_microusd(owner: Owner, now: datetime) -> int:
    """Sum up what the ledger charged for calls this month, whenever they were begun."""
    kind, key = owner
    start, end = month_around(now)
    charges = Transfer.objects.filter(
        wallet__owner_kind=kind, wallet__owner_key=key, kind="charge", created_at__gte=start, created_at__lt=end
    )
    return int(charges.aggregate(total=Sum("amount_microusd"))["total"] or 0)
