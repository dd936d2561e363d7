"""What waits to be sent, and which endpoints fail."""

from datetime import datetime
from typing import NamedTuple

from django.db.models import Count, Min, Q, QuerySet

from gateway.core.events.models import Delivery, DeliveryStatus, Endpoint, Event


class Backlog(NamedTuple):
    """Events that were not fanned out, deliveries to enabled endpoints that are due, and the age of the oldest of these in seconds
    (0 if there is none)."""

    events: int
    due: int
    oldest_seconds: float


def backlog(*, now: datetime) -> Backlog:
    """Count what waits now. A delivery between two attempts does not."""
    due = Delivery.objects.filter(status=DeliveryStatus.DUE, next_at__lte=now, endpoint__enabled=True)
    found = due.aggregate(count=Count("pk"), oldest=Min("next_at"))
    oldest = 0.0 if found["oldest"] is None else (now - found["oldest"]).total_seconds()
    return Backlog(Event.objects.filter(fanned_out_at=None).count(), found["count"], oldest)


def troubled() -> QuerySet[Endpoint]:
    """Return the endpoints that fail, or that the gateway disabled, the longest first."""
    is_failing = Q(enabled=True, failing_since__isnull=False)
    return Endpoint.objects.filter(is_failing | Q(enabled=False) & ~Q(disabled_reason="")).order_by(
        "failing_since", "pk"
    )
