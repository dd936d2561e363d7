"""What the database adds to a scrape."""

from datetime import datetime, timedelta
from pathlib import Path

import pytest
from django.conf import settings
from django.db import OperationalError, connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from billing.models import Call
from gateway.core.events.models import Delivery, Endpoint
from gateway.core.jobs.models import JobRun, Outcome
from gateway.metrics import exposition, figures
from gateway.metrics.figures import Figures
from tests.events.conftest import plain_kinds  # noqa: F401
from tests.events.stage import endpoint, happen, spread
from tests.factories.billing import Purse
from tests.gateway.console import ALICE, make_call, make_review
from tests.metrics.text import Scrape
from tests.support.database import connect

QUERIES_MAX = 12

NOTHING = Figures(0, 0, 0.0, 0, 0, 0, 0.0, 0, 0, {}, {})
ALWAYS = {
    "gateway_database_up",
    "gateway_held_microusd",
    "gateway_reviews_open",
    "gateway_review_oldest_seconds",
    "gateway_audit_findings",
    "gateway_events_pending",
    "gateway_deliveries_pending",
    "gateway_delivery_oldest_seconds",
    "gateway_endpoints_failing",
    "gateway_journal_folders_alarming",
    "gateway_job_last_success_timestamp_seconds",
    "gateway_job_alarming",
}


def run(job: str, outcome: Outcome, *, minutes_ago: int, **counts: int) -> JobRun:
    ended_at = timezone.now() - timedelta(minutes=minutes_ago)
    return JobRun.objects.create(
        job=f"billing.tasks.{job}", started_at=ended_at, ended_at=ended_at, outcome=outcome, counts=counts
    )


def make_delivery_due(now: datetime) -> None:
    endpoint()
    happen()
    spread()
    Delivery.objects.update(next_at=now - timedelta(seconds=7))
    happen()


@pytest.mark.django_db
@pytest.mark.usefixtures("plain_kinds")
def test_what_waits_is_read() -> None:
    now = timezone.now() + timedelta(hours=1)
    Purse("account", ALICE).pay(1_000_000)
    held, review = make_call(hold_microusd=50_000), make_review(hold_microusd=7)
    assert {held, review.pk} == set(Call.objects.filter(closed_at=None).values_list("pk", flat=True))
    make_delivery_due(now)
    Endpoint.objects.update(failing_since=now)
    found = figures.read(now=now)
    assert (found.held_microusd, found.reviews) == (50_007, 1)
    assert 3500 < found.oldest_review_seconds <= 3600
    due = Delivery.objects.count()
    assert (found.deliveries_pending, found.events_pending) == (due, due + 1)
    assert found.oldest_delivery_seconds == 7
    assert found.endpoints_failing == 1


@pytest.mark.django_db
def test_jobs_are_told_by_their_last_success() -> None:
    run("reap", Outcome.DONE, minutes_ago=9)
    last = run("reap", Outcome.DONE, minutes_ago=5)
    run("reap", Outcome.FAILED, minutes_ago=1)
    run("reconcile", Outcome.FAILED, minutes_ago=1)
    run("gone", Outcome.DONE, minutes_ago=1)
    found = figures.read(now=timezone.now())
    assert last.ended_at is not None
    assert found.successes == {"billing.tasks.reap": last.ended_at.timestamp()}
    assert found.alarming["billing.tasks.reap"]
    assert found.alarming["billing.tasks.reconcile"]
    assert found.alarming.keys() == set(settings.CELERY_BEAT_SCHEDULE)


@pytest.mark.django_db
def test_findings_are_those_of_the_newest_audits() -> None:
    run("audit_ledger", Outcome.DONE, minutes_ago=120, findings=5)
    run("audit_ledger", Outcome.DONE, minutes_ago=60)
    run("audit_whole_ledger", Outcome.DONE, minutes_ago=30, findings=2)
    run("audit_whole_ledger", Outcome.FAILED, minutes_ago=1)
    assert figures.read(now=timezone.now()).audit_findings == 2


@pytest.mark.django_db
def test_a_scrape_reads_little_however_much_there_is() -> None:
    with CaptureQueriesContext(connection) as queries:
        figures.read(now=timezone.now())
    assert len(queries) <= QUERIES_MAX


@pytest.mark.django_db(transaction=True)
def test_a_database_that_is_too_slow_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(figures, "QUERIES_SECONDS", 0.1)
    with connect() as operator, operator.transaction():
        operator.execute("LOCK TABLE billing_reservation")
        with pytest.raises(OperationalError):
            figures.read(now=timezone.now())
    assert figures.read(now=timezone.now()).held_microusd == 0


def test_without_the_database_there_are_no_old_figures(folder: Path) -> None:
    away, there = (Scrape(exposition.render(folder, found).decode()) for found in (None, NOTHING))
    assert (away.names(), away.value("gateway_database_up")) == ({"gateway_database_up"}, 0)
    assert (there.names(), there.value("gateway_database_up")) == (ALWAYS, 1)
