"""Reads what the database knows at a scrape: money that is held, reviews, jobs, events.

Each statement reads an index of open, due or newest rows. Together they may take QUERIES_SECONDS; a database that takes longer
counts as away.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import connection, transaction
from django.db.models import Count, Min, Sum

from billing.models import Call
from billing.queries import reviews
from gateway.core.database.clock import database_now
from gateway.core.events.queries import backlog
from gateway.core.jobs.queries import statuses
from inference.queries import journal_folders

QUERIES_SECONDS = 1.5
ANSWER_SECONDS = 2.0

AUDITS = ("billing.tasks.audit_ledger", "billing.tasks.audit_whole_ledger")


@dataclass(frozen=True, slots=True)
class Figures:
    """What the database knew at an instant. Ages are in seconds, 0 where there is nothing. By job: the time of its last success
    in Unix seconds, and whether the console marks it."""

    held_microusd: int
    reviews: int
    oldest_review_seconds: float
    audit_findings: int
    events_pending: int
    deliveries_pending: int
    oldest_delivery_seconds: float
    endpoints_failing: int
    journal_folders: int
    successes: Mapping[str, float]
    alarming: Mapping[str, bool]


def read(*, now: datetime) -> Figures:
    """Read the figures. Raises DatabaseError if the database is away or too slow."""
    connection.ensure_connection()
    with connection.connection.limited_to(ANSWER_SECONDS), transaction.atomic():
        with connection.cursor() as cursor:
            cursor.execute(f"SET LOCAL statement_timeout = {QUERIES_SECONDS * 1000:.0f}")
        return _read(now)


def _read(now: datetime) -> Figures:
    waiting = reviews.waiting().aggregate(count=Count("pk"), oldest=Min("created_at"))
    events = backlog.backlog(now=now)
    jobs = statuses.of_all(now=now)
    successes = statuses.last_successes()
    return Figures(
        held_microusd=_held_microusd(),
        reviews=waiting["count"],
        oldest_review_seconds=(now - waiting["oldest"]).total_seconds() if waiting["oldest"] else 0.0,
        audit_findings=sum(one.counts.get("findings", 0) for one in successes if one.job in AUDITS),
        events_pending=events.events + events.due,
        deliveries_pending=events.due,
        oldest_delivery_seconds=events.oldest_seconds,
        endpoints_failing=backlog.troubled().count(),
        journal_folders=journal_folders.alarming(now=database_now()).count(),
        successes={one.job: one.ended_at.timestamp() for one in successes if one.ended_at},
        alarming={one.job: one.is_alarming for one in jobs},
    )


def _held_microusd() -> int:
    found: dict[str, Any] = Call.objects.filter(closed_at=None).aggregate(sum=Sum("hold_microusd"))
    return found["sum"] or 0
