"""The periodic jobs."""

from gateway.celery import app
from gateway.schedule import INTERVAL_SECONDS, beat_schedule

OWN_APPS = (
    "accounts.",
    "billing.",
    "inference.",
    "gateway.core.events.",
    "gateway.core.jobs.",
    "gateway.core.telemetry.",
    "integrations.",
    "judgement.",
    "organizations.",
)
# Begun by something that happens, or by a scheduler of an earlier version.
ON_DEMAND = {
    "billing.tasks.handle_event",
    "inference.tasks.recover_calls",
    "integrations.tasks.cancel_run",
    "integrations.tasks.execute_job",
    "integrations.tasks.execute_run",
}


def test_every_job_is_on_the_schedule_and_exists() -> None:
    app.loader.import_default_modules()
    jobs = {name for name in app.tasks if name.startswith(OWN_APPS)}
    assert set(INTERVAL_SECONDS) == jobs - ON_DEMAND
    assert jobs >= ON_DEMAND


def test_beat_is_configured() -> None:
    assert app.conf.beat_schedule == beat_schedule()


def test_reconciliation_runs_at_least_every_minute() -> None:
    assert INTERVAL_SECONDS["billing.tasks.reconcile"] <= 60
    assert INTERVAL_SECONDS["billing.tasks.reconcile_payments"] <= 60
    assert INTERVAL_SECONDS["billing.tasks.reap"] <= 60
