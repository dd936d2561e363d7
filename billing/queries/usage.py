"""Usage records, always scoped to an owner."""

from django.db.models import QuerySet

from billing.models import Reservation
from billing.rules.owners import Owner


def newest(owner: Owner, limit: int) -> QuerySet[Reservation]:
    """Give an owner's newest calls with what they used, newest first."""
    kind, key = owner
    calls = Reservation.objects.filter(wallet__owner_kind=kind, wallet__owner_key=key)
    return calls.select_related("usage_record").order_by("-created_at", "-id")[:limit]
