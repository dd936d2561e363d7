"""Usage records, always scoped to an owner."""

from django.db.models import QuerySet, Subquery

from billing.models import Reservation, Wallet
from billing.models.reservation import BEGINNING
from billing.rules.owners import Owner


def newest(owner: Owner, limit: int, *, member: str | None = None) -> QuerySet[Reservation]:
    """Return an owner's newest calls with what they used, newest first; only one membership's where one is named."""
    kind, key = owner
    wallet = Wallet.objects.filter(owner_kind=kind, owner_key=key).values("id")[:1]
    # By a subquery, not a join: the newest are then read off the index, however many calls the wallet has.
    calls = Reservation.objects.filter(wallet_id=Subquery(wallet), created_at__gt=BEGINNING)
    if member is not None:
        calls = calls.filter(membership_id=member)
    return calls.select_related("usage_record").order_by("-created_at", "-id")[:limit]
