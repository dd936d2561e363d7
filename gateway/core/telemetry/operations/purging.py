"""Deletes what is old."""

from datetime import datetime, timedelta

from django.conf import settings

from gateway.core.database.purge import purge as purge_rows
from gateway.core.telemetry.models import HourlyTraffic, RequestTrace


def purge(*, now: datetime) -> dict[str, int]:
    """Delete old requests and hours; return how many of each."""
    requests = RequestTrace.objects.filter(began_at__lt=now - timedelta(days=settings.REQUEST_TRACE_DAYS))
    hours = HourlyTraffic.objects.filter(hour__lt=now - timedelta(days=settings.TRAFFIC_DAYS))
    return {
        "requests": purge_rows(requests.order_by("began_at", "id")),
        "hours": purge_rows(hours.order_by("hour")),
    }
