"""The record of the jobs' runs."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.db import connection
from django.utils import timezone

from gateway.celery import app
from gateway.core.jobs.models import JobRun, Outcome
from gateway.core.jobs.operations import recording, runs
from gateway.core.jobs.operations.recording import job
from gateway.schedule import INTERVAL_SECONDS
from tests.support.concurrency import at_once

pytestmark = pytest.mark.django_db

NAME = f"{__name__}.work"
RESULTS: list[Any] = []


@job("rows")
def work() -> Any:
    """Do what the test says."""
    result = RESULTS.pop(0)
    if isinstance(result, BaseException):
        raise result
    return result


def run(*results: Any) -> None:
    RESULTS[:] = results
    for result in results:
        if isinstance(result, BaseException):
            with pytest.raises(type(result)):
                work()
        else:
            assert work() == result


def recorded() -> list[tuple[str, dict[str, int], str | None, int]]:
    rows = JobRun.objects.filter(job=NAME).order_by("pk")
    return [(row.outcome, row.counts, row.error, row.runs) for row in rows]


def test_a_run_says_what_it_did() -> None:
    run(3, {"calls": 2, "debts": 0}, None)
    assert recorded() == [
        ("done", {"rows": 3}, None, 1),
        ("done", {"calls": 2}, None, 1),
        ("done", {}, None, 1),
    ]


def test_a_failure_is_recorded_by_its_first_line_and_raised() -> None:
    run(ValueError("no such\nDETAIL: Key (email)=(alice@studio.example)"))
    assert recorded() == [("failed", {}, "ValueError: no such", 1)]


def test_a_run_is_there_while_it_works() -> None:
    seen = []

    class Looks:
        def __int__(self) -> int:
            seen.extend(recorded())
            return 1

    RESULTS[:] = [Looks()]
    work()
    assert seen == [("running", {}, None, 1)]


def test_a_run_whose_worker_dies_stays_without_an_end() -> None:
    recording._begin(NAME)
    run(0)
    assert recorded() == [("running", {}, None, 1), ("done", {}, None, 1)]


def test_quiet_runs_are_folded_and_so_are_equal_failures() -> None:
    run(0, 0, {"calls": 0}, 1, 0, 0, ValueError("a"), ValueError("a"), ValueError("b"), 0)
    assert recorded() == [
        ("done", {}, None, 3),
        ("done", {"rows": 1}, None, 1),
        ("done", {}, None, 2),
        ("failed", {}, "ValueError: a", 2),
        ("failed", {}, "ValueError: b", 1),
        ("done", {}, None, 1),
    ]


def test_a_folded_row_ends_with_its_last_run_and_with_the_day() -> None:
    yesterday = timezone.now() - timedelta(days=1)
    JobRun.objects.create(job=NAME, started_at=yesterday, ended_at=yesterday, outcome=Outcome.DONE)
    run(0, 0)
    old, new = JobRun.objects.filter(job=NAME).order_by("pk")
    assert (old.runs, old.ended_at, new.runs) == (1, yesterday, 2)
    assert new.ended_at is not None
    assert new.ended_at > new.started_at


@pytest.mark.django_db(transaction=True)
def test_runs_at_once_are_all_counted() -> None:
    run(0)
    RESULTS[:] = [0] * 6
    at_once(*[work] * 6)
    rows = JobRun.objects.filter(job=NAME)
    assert sum(row.runs for row in rows) == 7
    assert {row.outcome for row in rows} == {"done"}


@pytest.mark.django_db(transaction=True)
def test_a_record_that_cannot_be_written_keeps_no_job_from_its_work(caplog: pytest.LogCaptureFixture) -> None:
    with connection.cursor() as cursor:
        cursor.execute("ALTER TABLE jobs_run RENAME TO away")
        try:
            run(5)
        finally:
            cursor.execute("ALTER TABLE away RENAME TO jobs_run")
    assert f"the run of {NAME} cannot be recorded" in caplog.text
    assert recorded() == []


def test_old_runs_are_purged() -> None:
    now = datetime(2026, 11, 22, tzinfo=UTC)
    for days in (0, 13, 14, 15, 16, 17):
        JobRun.objects.create(job=NAME, started_at=now - timedelta(days=days, seconds=1))
    assert runs.purge(now=now) == 4
    assert JobRun.objects.count() == 2


def test_every_job_of_the_schedule_is_recorded() -> None:
    app.loader.import_default_modules()
    unrecorded = [name for name in INTERVAL_SECONDS if app.tasks[name].run.__globals__ is not recording.__dict__]
    assert unrecorded == []
