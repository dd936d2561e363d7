"""The recent requests that were kept, with their steps."""

from collections.abc import Iterable
from datetime import datetime

from django.db.models import Sum

from gateway.core.telemetry.models import HourlyTraffic, RequestTrace
from gateway.core.telemetry.observation import Outcome

UNCHARGED = (Outcome.REFUSED.value, Outcome.FAILED.value)
"""The outcomes of requests that never became a call."""


def of_call(usage_id: str) -> RequestTrace | None:
    """Return the request that made a call; None if it was not kept. A repeated request, which got the same answer, is none."""
    made = RequestTrace.objects.filter(usage_id=usage_id).exclude(outcome__in=(*UNCHARGED, Outcome.REPLAYED.value))
    return made.order_by("began_at", "id").first()


def usage_ids(request_id: str) -> list[str]:
    """Return the calls that requests with this id made or got the answer of."""
    found = RequestTrace.objects.filter(request_id=request_id).exclude(usage_id="")
    return list(found.values_list("usage_id", flat=True)[:50])


def left_out(outcomes: Iterable[str], since: datetime) -> int:
    """Count the requests with these outcomes that were not kept under load, of the hours since a time."""
    hours = HourlyTraffic.objects.filter(hour__gte=since, outcome__in=list(outcomes))
    return hours.aggregate(sum=Sum("untraced"))["sum"] or 0
