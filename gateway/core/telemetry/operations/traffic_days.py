"""Sum the hours of past days."""

from datetime import UTC, date, datetime, time, timedelta

from django.db import connection
from django.db.models import Max, Min

from gateway.core.telemetry.models import HourlyTraffic, TrafficDay
from gateway.core.telemetry.rules.failures import IS_FAILURE, PARAMETERS

SETTLED_AFTER = timedelta(hours=1)
"""The time after which a process whose database was away has written the hours of a day."""

_ADD = f"""
INSERT INTO telemetry_day (day, requests, failures)
SELECT %(day)s, coalesce(sum(t.requests), 0), coalesce(sum(t.requests) FILTER (WHERE {IS_FAILURE}), 0)
  FROM telemetry_hour t WHERE t.hour >= %(start)s AND t.hour < %(end)s AND t.outcome <> ALL(%(not_sent)s)
ON CONFLICT (day) DO NOTHING
"""  # noqa: S608 - no input


def roll_up(*, now: datetime) -> int:
    """Sum each day that is over and has no sum yet; return how many. Repeating changes nothing."""
    day, last = _next_day(), (now - SETTLED_AFTER).date()
    added = 0
    while day is not None and day < last:
        start = datetime.combine(day, time(), UTC)
        with connection.cursor() as cursor:
            cursor.execute(_ADD, {"day": day, "start": start, "end": start + timedelta(days=1), **PARAMETERS})
            added += cursor.rowcount
        day += timedelta(days=1)
    return added


def _next_day() -> date | None:
    last = TrafficDay.objects.aggregate(last=Max("day"))["last"]
    if last is not None:
        return last + timedelta(days=1)
    first = HourlyTraffic.objects.aggregate(first=Min("hour"))["first"]
    return None if first is None else first.date()
