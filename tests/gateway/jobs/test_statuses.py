"""How each job stands, and the console's page of it."""

import re
from collections.abc import Callable
from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone
from django.utils.html import escape

from gateway.core.jobs.models import JobRun
from gateway.core.jobs.queries import statuses
from gateway.core.jobs.rules.counts import format_counts
from gateway.job_texts import JOB_TEXTS
from gateway.schedule import INTERVAL_SECONDS
from tests.gateway.operators import address, clerk, superuser

pytestmark = pytest.mark.django_db

NOW = timezone.now()
NAME = "billing.tasks.reap"
INTERVAL = timedelta(seconds=INTERVAL_SECONDS[NAME])
LATE = 2 * INTERVAL + timedelta(minutes=1)
TICK = timedelta(seconds=1)
BADGE = "bg-red-100 text-red-700"


def ran(ago: timedelta, outcome: str = "done", job: str = NAME) -> JobRun:
    ended = None if outcome == "running" else NOW - ago
    error = "ValueError: no" if outcome == "failed" else None
    return JobRun.objects.create(job=job, started_at=NOW - ago - TICK, ended_at=ended, outcome=outcome, error=error)


def status(name: str = NAME) -> str:
    [one] = [one for one in statuses.of_all(now=NOW) if one.job == name]
    return one.status.value


@pytest.mark.parametrize(
    ("make", "expected"),
    [
        (lambda: None, "Not yet run"),
        (lambda: ran(TICK), "Good"),
        (lambda: ran(LATE), "Good"),
        (lambda: ran(LATE + TICK), "Overdue"),
        (lambda: ran(TICK, "failed"), "Failed"),
        (lambda: ran(LATE + TICK, "failed"), "Overdue"),
        (lambda: ran(TICK, "running"), "Running"),
        (lambda: ran(timedelta(hours=1), "running"), "Not finished"),
        (lambda: [ran(timedelta(hours=2), "running"), ran(TICK)], "Good"),
        (lambda: [ran(LATE), ran(TICK, "running")], "Running"),
        (lambda: [ran(LATE + TICK), ran(TICK, "running")], "Not finished"),
        (lambda: [ran(LATE + TICK, "running"), ran(TICK, "running")], "Not finished"),
        (lambda: ran(TICK, job="billing.tasks.reconcile"), "Not yet run"),
        (lambda: ran(LATE + TICK, job="billing.tasks.reconcile"), "Overdue"),
    ],
)
def test_a_job_is_judged_by_its_newest_run_and_its_interval(make: Callable[[], object], expected: str) -> None:
    make()
    assert status() == expected


def test_every_job_of_the_schedule_is_judged() -> None:
    assert [one.job for one in statuses.of_all(now=NOW)] == sorted(INTERVAL_SECONDS)


def listed(operator: Client, **query: str) -> str:
    return operator.get(address("jobs_jobrun_changelist"), query).content.decode()


def test_the_page_shows_each_job_and_the_runs() -> None:
    JobRun.objects.create(job=NAME, started_at=NOW, ended_at=NOW, outcome="done", counts={"calls": 1234})
    ran(TICK, "failed", "billing.tasks.reconcile")
    operator = superuser()
    page = listed(operator)
    assert all(escape(text) in page for texts in JOB_TEXTS.values() for text in texts)
    assert page.count("1,234 calls") == 2
    assert page.count("ValueError: no") == 2
    assert listed(operator, outcome__exact="failed").count("1,234 calls") == 1
    assert listed(operator, q="reconcile").count("1,234 calls") == 1
    assert listed(operator, work="done").count("ValueError: no") == 1


def test_every_job_of_the_schedule_has_a_name_and_a_sentence() -> None:
    assert sorted(JOB_TEXTS) == sorted(INTERVAL_SECONDS)
    assert len({name for name, _ in JOB_TEXTS.values()}) == len(JOB_TEXTS)
    assert all(sentence.endswith(".") for _, sentence in JOB_TEXTS.values())


def test_a_runs_page_says_what_the_job_does_and_how_often() -> None:
    run = JobRun.objects.create(job="accounts.tasks.purge_assertions", started_at=NOW, counts={"assertions": 1})
    operator = superuser()
    page = operator.get(address("jobs_jobrun_change", run.pk)).content.decode()
    name, sentence = JOB_TEXTS[run.job]
    for text in (f"{name}: running", f"{sentence} Runs every 5 min.", run.job, "1 assertion<"):
        assert text in page
    assert f"{run.job}: " not in page
    assert len(re.findall(r">\s*Job\s*<", page)) == 1, "the path is labelled as the task"


def test_a_job_is_found_by_its_name_and_by_its_task() -> None:
    JobRun.objects.create(job=NAME, started_at=NOW, ended_at=NOW, outcome="done", counts={"calls": 1234})
    operator = superuser()
    for text, count in (("abandoned CALLS", 2), ("tasks.reap", 2), ("Seal", 1)):
        assert listed(operator, q=text).count("1,234 calls") == count


def test_a_run_of_a_job_that_is_no_longer_scheduled_is_shown_by_its_task() -> None:
    ran(TICK, job="billing.tasks.retired")
    assert "billing.tasks.retired" in listed(superuser())


@pytest.mark.parametrize(
    ("counts", "words"),
    [
        ({"assertions": 1}, "1 assertion"),
        ({"calls": 3, "debts": 1}, "3 calls, 1 debt"),
        ({"cache entries": 1, "addresses": 1}, "1 address, 1 cache entry"),
        ({"released": 1, "past due": 1}, "1 past due, 1 released"),
        ({}, ""),
    ],
)
def test_one_of_a_kind_is_counted_in_the_singular(counts: dict[str, int], words: str) -> None:
    assert format_counts(counts) == words


def test_a_run_that_a_later_one_has_passed_is_shown_as_not_finished() -> None:
    hourly = "billing.tasks.purge_events"
    JobRun.objects.create(job=hourly, started_at=timezone.now())  # an hour after its start it would have died
    operator = superuser()
    assert "Not finished" not in listed(operator)
    ran(TICK, job=hourly)
    page = listed(operator)
    assert page.count("Not finished") == 1


def test_the_badge_counts_what_an_operator_should_look_at() -> None:
    operator = superuser()
    assert BADGE not in operator.get(address("index")).content.decode()
    ran(TICK, "failed")
    assert BADGE in operator.get(address("index")).content.decode()


def test_who_may_not_see_runs_sees_none() -> None:
    ran(TICK, "failed")
    assert clerk("view_wallet").get(address("jobs_jobrun_changelist")).status_code == 403
    assert clerk("view_jobrun", name="auditor").get(address("jobs_jobrun_changelist")).status_code == 200
