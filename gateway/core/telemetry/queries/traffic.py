"""The requests of the last days, their failures, and how long upstreams take, for the console's home page.

Past days are read from their sums, and what is newer from the sums of hours, which are at most a few seconds old.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time, timedelta
from typing import Any

from django.db import connection

from gateway.core.telemetry.rules.buckets import empty
from gateway.core.telemetry.rules.failures import IS_FAILURE, PARAMETERS

RECENT = timedelta(hours=24)
FAILURES_MAX = 8

# The sums of the last 24 hours' histograms are those of arrays, position by position.
_REPORT = f"""
WITH days AS (
  SELECT d.day, d.requests, d.failures FROM telemetry_day d WHERE d.day >= %(since)s
), hours AS MATERIALIZED (
  SELECT t.hour, t.model, t.upstream, t.cause, t.requests, t.duration_buckets, t.first_byte_buckets, {IS_FAILURE} AS is_failure
    FROM telemetry_hour t
   WHERE t.hour >= least(%(recent)s, greatest(%(start)s, (SELECT (max(d.day) + 1)::timestamp AT TIME ZONE 'UTC' FROM telemetry_day d)))
     AND t.outcome <> ALL(%(not_sent)s)
), recent AS (
  SELECT * FROM hours WHERE hour >= %(recent)s
)
SELECT 'day', day, '', '', '', requests, failures, NULL::bigint[], NULL::bigint[] FROM days
UNION ALL
SELECT 'day', (hour AT TIME ZONE 'UTC')::date, '', '', '', sum(requests)::bigint,
       coalesce(sum(requests) FILTER (WHERE is_failure), 0)::bigint, NULL::bigint[], NULL::bigint[]
  FROM hours WHERE (hour AT TIME ZONE 'UTC')::date > coalesce((SELECT max(d.day) FROM telemetry_day d), '-infinity')
   AND hour >= %(start)s
 GROUP BY 2
UNION ALL
(SELECT 'failure', NULL, model, upstream, cause, sum(requests)::bigint, 0, NULL, NULL
   FROM recent WHERE is_failure GROUP BY 3, 4, 5 ORDER BY 6 DESC, 3, 4, 5 LIMIT %(most)s)
UNION ALL
SELECT 'upstream', NULL, '', upstream, '', sum(requests)::bigint, sum(failures)::bigint,
       array_agg(durations ORDER BY place), array_agg(first_bytes ORDER BY place)
  FROM (SELECT r.upstream, b.place, CASE b.place WHEN 1 THEN sum(r.requests) ELSE 0 END::bigint AS requests,
               CASE b.place WHEN 1 THEN coalesce(sum(r.requests) FILTER (WHERE is_failure), 0) ELSE 0 END::bigint AS failures,
               coalesce(sum(b.duration), 0)::bigint AS durations, coalesce(sum(b.first_byte), 0)::bigint AS first_bytes
          FROM recent r, unnest(r.duration_buckets, r.first_byte_buckets) WITH ORDINALITY b (duration, first_byte, place)
         WHERE r.upstream <> '' GROUP BY 1, 2) s
 GROUP BY upstream
"""  # noqa: S608 - no input


@dataclass(frozen=True, slots=True)
class Count:
    """Requests that came to a model or an upstream, and those of them that failed by no fault of the client."""

    requests: int = 0
    failures: int = 0

    def __add__(self, other: "Count") -> "Count":
        return Count(self.requests + other.requests, self.failures + other.failures)

    @property
    def percent(self) -> float:
        """Return the share of failures."""
        return 100 * self.failures / self.requests if self.requests else 0.0


@dataclass(frozen=True, slots=True)
class UpstreamTraffic:
    """The requests of an upstream in the last 24 hours, with their histograms (`rules.buckets`)."""

    upstream: str
    count: Count
    durations: list[int] = field(default_factory=empty)
    first_bytes: list[int] = field(default_factory=empty)


@dataclass(frozen=True, slots=True)
class Failure:
    """The requests that failed for one reason in the last 24 hours."""

    model: str
    upstream: str
    cause: str
    requests: int


@dataclass(slots=True)
class Traffic:
    """Requests by UTC day; failures and upstreams of the last 24 hours, those with most requests first."""

    days: dict[date, Count] = field(default_factory=dict)
    failures: list[Failure] = field(default_factory=list)
    upstreams: list[UpstreamTraffic] = field(default_factory=list)


def read(since: date, now: datetime) -> Traffic:
    """Read the days since one, in one statement."""
    given: dict[str, Any] = {
        "start": datetime.combine(since, time(), UTC),
        "recent": now - RECENT,
        "since": since,
        **PARAMETERS,
        "most": FAILURES_MAX,
    }
    with connection.cursor() as cursor:
        cursor.execute(_REPORT, given)
        return _traffic(cursor.fetchall())


def _traffic(rows: Iterable[tuple[object, ...]]) -> Traffic:
    found = Traffic()
    for kind, day, model, upstream, cause, requests, failures, durations, first_bytes in rows:
        match kind:
            case "day":
                found.days[day] = Count(requests, failures)  # type: ignore[index,arg-type]
            case "failure":
                found.failures.append(Failure(model, upstream, cause, requests))  # type: ignore[arg-type]
            case _:
                count = Count(requests, failures)  # type: ignore[arg-type]
                found.upstreams.append(UpstreamTraffic(upstream, count, durations, first_bytes))  # type: ignore[arg-type]
    found.upstreams.sort(key=lambda one: (-one.count.requests, one.upstream))
    return found
