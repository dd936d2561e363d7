"""Usage records, always scoped to an owner."""

from django.db.models import QuerySet

from billing.models import Reservation
from billing.rules.owners import Owner


def newest(owner: Owner, limit: int, *, member: str | None = None) -> QuerySet[Reservation]:
    """Give an owner's newest calls with what they used, newest first; only one membership's where one is named."""
    kind, key = owner
    calls = Reservation.objects.filter(wallet__owner_kind=kind, wallet__owner_key=key)
    if member is not None:
        calls = calls.filter(membership_id=member)
    return calls.select_related("usage_record").order_by("-created_at", "-id")[:limit]
