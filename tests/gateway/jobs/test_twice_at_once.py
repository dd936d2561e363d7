"""Every job of the schedule may run twice, at once and again, and be killed: the result is that of one run."""

import os
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone

from billing.models import PENDING, AutoTopUpCharge, InvoicePayment
from gateway.celery import app
from gateway.core.jobs.models import JobRun
from gateway.schedule import INTERVAL_SECONDS
from tests.billing.conftest import unsound
from tests.gateway.jobs.work import WORK, Stage
from tests.support.concurrency import at_once
from tests.support.database import database_url
from tests.support.forked import run
from tests.support.stripe import FakeStripe
from tests.support.stripe.fixtures import provider, running_provider  # noqa: F401

pytestmark = pytest.mark.django_db(transaction=True)

FINDINGS = {"billing.tasks.audit_ledger", "billing.tasks.audit_whole_ledger", "billing.tasks.purge_replays"}
"""The jobs whose work is a finding of the audit: calls past their deadline, answers whose end was set back."""
CRASHING = [
    "billing.tasks.charge_auto_top_ups",
    "billing.tasks.collect_invoices",
    "billing.tasks.match_payments",
    "billing.tasks.merge_lots",
    "billing.tasks.reap",
    "billing.tasks.reconcile",
    "billing.tasks.reconcile_payments",
    "billing.tasks.sweep_lots",
    "organizations.tasks.bill_seats",
    "organizations.tasks.follow_debts",
]
"""The jobs that move money or decide who owes some. Those of calls and seals have tests of their own in tests/faults."""


@pytest.fixture
def stage(
    provider: FakeStripe,  # noqa: F811
    settings: Any,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> Iterator[Stage]:
    app.loader.import_default_modules()
    with ExitStack() as stack:
        yield Stage(provider, settings, monkeypatch, tmp_path, stack)


def counted(name: str) -> int:
    """Sum up what all runs of a job say they did."""
    return sum(sum(run.counts.values()) for run in JobRun.objects.filter(job=name))


def check(name: str) -> None:
    """Check that the work is done, and that the ledger is sound."""
    assert WORK[name].state() == WORK[name].done
    assert name in FINDINGS or unsound() == []


def test_every_job_of_the_schedule_has_work() -> None:
    assert set(WORK) == set(INTERVAL_SECONDS)


@pytest.mark.parametrize("name", sorted(INTERVAL_SECONDS))
def test_twice_at_once_and_again_is_once(stage: Stage, name: str) -> None:
    WORK[name].make(stage)
    task = app.tasks[name]
    at_once(task, task)
    task()
    check(name)
    did = counted(name)
    assert WORK[name].counted in (None, did)
    task()
    check(name)
    assert WORK[name].counted is None or counted(name) == did
    runs = JobRun.objects.filter(job=name)
    assert {run.outcome for run in runs} == {"done"}
    assert sum(run.runs for run in runs) == 4


@pytest.mark.parametrize("name", CRASHING)
def test_killed_before_each_of_its_statements_a_job_is_done_by_the_next(stage: Stage, name: str) -> None:
    WORK[name].make(stage)
    command = [sys.executable, "-m", "tests.gateway.jobs.crashing_job", name]
    environment = {
        **os.environ,
        "DATABASE_URL": database_url(),
        "STRIPE_SECRET_KEY": stage.provider.secret_key,
        "STRIPE_API_BASE": stage.provider.origin,
    }
    if stage.settings.SEAT_COLLECTION_FROM:
        environment["SEAT_COLLECTION_FROM"] = f"{stage.settings.SEAT_COLLECTION_FROM:%Y-%m}"
    done = run(command, env=environment, check=True, timeout=600)
    assert int(done.stdout) > 3
    InvoicePayment.objects.filter(status__in=PENDING).update(next_check_at=timezone.now())
    AutoTopUpCharge.objects.filter(ended_at=None).update(next_check_at=timezone.now())
    for _ in range(2):
        app.tasks[name]()
        check(name)
    assert JobRun.objects.filter(job=name, outcome="running").exists()
