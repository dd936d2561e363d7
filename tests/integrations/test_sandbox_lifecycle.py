"""The life cycle of runs in the database: taking, abandoning and finishing."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.utils import timezone

from gateway.run.ports import free_port
from gateway.schedule import INTERVAL_SECONDS
from integrations import tasks
from integrations.adapters.programs import Ending, Outcome, Output
from integrations.models import SandboxRun
from integrations.models.execution import Execution
from integrations.operations import executions, heartbeats
from tests.factories.accounts import Caller, make_caller
from tests.integrations.conftest import Api
from tests.integrations.sandbox import RUNS, SCOPES, configure, let_time_pass, queued
from tests.integrations.test_projects import project
from tests.support.concurrency import PATIENCE_SECONDS, at_once

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def sent(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Collect the messages for workers, so that no worker executes these tests' runs."""
    names: list[str] = []
    monkeypatch.setattr(tasks, "begin", lambda task, execution_id: names.append(execution_id))
    return names


@pytest.fixture
def alice() -> Caller:
    configure(max_timeout_seconds=600)
    return make_caller(*SCOPES)


def started(api: Api, alice: Caller) -> tuple[str, Any]:
    """Queue a run; return its id and a function that reads it."""
    run_id = queued(api, alice, project(alice.account.did), "true")
    return run_id, lambda: api(alice, "GET", f"{RUNS}/{run_id}")[1]


def test_a_run_that_was_being_cancelled_when_its_worker_died_is_cancelled(api: Api, alice: Caller) -> None:
    run_id, read = started(api, alice)
    assert executions.take(SandboxRun, run_id)
    api(alice, "POST", f"{RUNS}/{run_id}/cancel")
    let_time_pass(run_id)
    tasks.tend_executions()
    assert (read()["status"], read()["error"]) == ("cancelled", None)


def test_a_worker_that_cannot_reach_the_database_stops_before_it_is_given_up() -> None:
    assert heartbeats.SILENT_MAX_SECONDS < executions.STALE_SECONDS
    assert executions.STALE_SECONDS + INTERVAL_SECONDS["integrations.tasks.tend_executions"] < 60


def test_a_run_that_no_message_reached_is_sent_again(api: Api, alice: Caller, sent: list[str]) -> None:
    run_id = queued(api, alice, project(alice.account.did), "echo done")
    assert sent == [run_id]
    tasks.tend_executions()
    assert sent == [run_id]
    SandboxRun.objects.update(created_at=timezone.now() - timedelta(seconds=60))
    tasks.tend_executions()
    assert sent == [run_id, run_id]


def test_one_worker_takes_a_run(api: Api, alice: Caller) -> None:
    run_id, _ = started(api, alice)
    taken = at_once(*(lambda: executions.take(SandboxRun, run_id) for _ in range(8)))
    assert sum(row is not None for row in taken) == 1


def test_an_abandoned_run_cannot_be_finished(api: Api, alice: Caller) -> None:
    run_id, _ = started(api, alice)
    run = executions.take(SandboxRun, run_id)
    assert run is not None
    let_time_pass(run_id)
    assert executions.give_up(SandboxRun) == 1
    assert not executions.finish(run, Execution.Status.SUCCEEDED)
    assert not heartbeats.Heartbeat(run)(Output(1))
    assert SandboxRun.objects.get().status == "failed"


def test_a_worker_that_shuts_down_takes_nothing_and_stops_its_execution(
    api: Api, alice: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    run_id, _ = started(api, alice)
    other_id, read = started(api, alice)
    run = executions.take(SandboxRun, run_id)
    assert run is not None
    heartbeat = heartbeats.Heartbeat(run)
    monkeypatch.setattr(heartbeats, "_shutdowns", [])
    monkeypatch.setattr(heartbeats, "SHUTDOWN_SECONDS", PATIENCE_SECONDS)
    heartbeats.request_shutdown()
    assert executions.take(SandboxRun, other_id) is None
    assert read()["status"] == "queued"
    assert heartbeat(Output(1)), "short programs come to their end"
    monkeypatch.setattr(heartbeats, "SHUTDOWN_SECONDS", -1.0)
    assert not heartbeat(Output(1))
    assert heartbeat.explained(Outcome(Ending.STOPPED)) == Outcome(Ending.WORKER_LOST, reason=heartbeats.LOST)
    assert heartbeat.explained(Outcome(Ending.EXITED, 0)) == Outcome(Ending.EXITED, 0)


def test_a_run_whose_worker_lost_the_database_was_not_cancelled(
    api: Api, alice: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    run_id, _ = started(api, alice)
    run = executions.take(SandboxRun, run_id)
    assert run is not None
    heartbeat = heartbeats.Heartbeat(run)
    monkeypatch.setattr(heartbeats, "SILENT_MAX_SECONDS", PATIENCE_SECONDS)
    with unreachable_database():
        assert heartbeat(Output(1))
        monkeypatch.setattr(heartbeats, "SILENT_MAX_SECONDS", -1.0)
        assert not heartbeat(Output(1))
    assert heartbeat.explained(Outcome(Ending.STOPPED)).ending is Ending.WORKER_LOST


def test_an_end_is_written_once_the_database_is_back(api: Api, alice: Caller, monkeypatch: pytest.MonkeyPatch) -> None:
    run_id, read = started(api, alice)
    run = executions.take(SandboxRun, run_id)
    assert run is not None
    monkeypatch.setattr(heartbeats, "RETRY_SECONDS", 0.0)
    monkeypatch.setattr(heartbeats, "SILENT_MAX_SECONDS", PATIENCE_SECONDS)
    tries = []

    def write() -> bool:
        tries.append(run)
        if len(tries) < 2:
            with unreachable_database():
                return executions.finish(run, Execution.Status.SUCCEEDED)
        return executions.finish(run, Execution.Status.SUCCEEDED)

    assert heartbeats.retry_while_unavailable(write)
    assert (len(tries), read()["status"]) == (2, "succeeded")


@contextmanager
def unreachable_database() -> Iterator[None]:
    """Point Django's connections to a port where nothing listens."""
    port = connection.settings_dict["PORT"]
    lead_to(free_port())
    try:
        yield
    finally:
        lead_to(port)


def lead_to(port: Any) -> None:
    """Point every new connection to this port."""
    driver: Any = connection
    driver.close()
    driver.close_pool()
    driver.settings_dict["PORT"] = port
