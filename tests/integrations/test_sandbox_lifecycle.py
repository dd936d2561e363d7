"""Runs under way: their output, their cancelling, and what becomes of them when their worker is killed."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone

from gateway.schedule import INTERVAL_SECONDS
from integrations import tasks
from integrations.adapters.programs import Output
from integrations.models import SandboxRun
from integrations.models.execution import Execution
from integrations.operations import executions
from tests.factories.accounts import Caller, make_caller
from tests.integrations.conftest import Api
from tests.integrations.sandbox import RUNS, SCOPES, configure, queued
from tests.integrations.test_projects import project
from tests.support.concurrency import at_once, eventually
from tests.support.database import database_url

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def sent(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Keep what would be sent to a worker: the tests themselves start the workers."""
    names: list[str] = []
    monkeypatch.setattr(tasks, "begin", lambda task, execution_id: names.append(execution_id))
    return names


@contextmanager
def worker(run_id: str) -> Iterator["subprocess.Popen[bytes]"]:
    """Execute a run in a process of its own."""
    command = [sys.executable, "-m", "tests.integrations.sandbox_worker", run_id]
    with subprocess.Popen(command, env={**os.environ, "DATABASE_URL": database_url()}) as process:
        try:
            yield process
        finally:
            process.kill()


@pytest.fixture
def alice() -> Caller:
    configure(max_timeout_seconds=600)
    return make_caller(*SCOPES)


def started(api: Api, alice: Caller, mark: str) -> tuple[str, Any]:
    """Queue a run that writes a line and then leaves processes behind that a signal does not end."""
    script = f"trap '' TERM INT HUP; (setsid sleep {mark} &); echo begun; sleep {mark}"
    run_id = queued(api, alice, project(alice.account.did), script, timeoutSeconds=600)
    return run_id, lambda: api(alice, "GET", f"{RUNS}/{run_id}")[1]


def processes(mark: str) -> list[Path]:
    """Find the processes whose command line has a word."""
    found = []
    for file in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            found += [file] if mark.encode() in file.read_bytes() else []
        except OSError:
            continue
    return found


def test_output_is_read_while_the_run_is_under_way_and_cancelling_ends_all_of_it(api: Api, alice: Caller) -> None:
    run_id, read = started(api, alice, "6001.1")
    with worker(run_id) as process:
        body = eventually(lambda: (body := read())["stdout"] and body)
        assert (body["status"], body["stdout"], body["finishedAt"]) == ("running", "begun\n", None)
        assert processes("6001.1")
        status, cancelled = api(alice, "POST", f"{RUNS}/{run_id}/cancel")
        assert (status, cancelled["status"]) == (202, "cancelling")
        assert api(alice, "POST", f"{RUNS}/{run_id}/cancel")[0] == 202
        assert process.wait(120) == 0
    assert (read()["status"], read()["exitCode"], read()["error"]) == ("cancelled", None, None)
    assert processes("6001.1") == []


def test_a_killed_worker_leaves_no_orphan_and_its_run_fails(api: Api, alice: Caller) -> None:
    run_id, read = started(api, alice, "6002.2")
    with worker(run_id) as process:
        eventually(lambda: read()["stdout"])
        process.send_signal(signal.SIGKILL)
        process.wait()
        eventually(lambda: not processes("6002.2"))
    assert tasks.tend_executions() == 0
    assert read()["status"] == "running"
    let_time_pass(run_id)
    assert tasks.tend_executions() == 1
    body = read()
    assert (body["status"], body["stdout"], body["exitCode"]) == ("failed", "begun\n", None)
    assert body["error"] == {"code": "worker_lost", "message": "The worker that executed this stopped."}
    assert body["finishedAt"] is not None
    assert SandboxRun.objects.get().inputs == ""


def test_a_run_that_was_being_cancelled_when_its_worker_died_is_cancelled(api: Api, alice: Caller) -> None:
    run_id, read = started(api, alice, "6003.3")
    assert executions.take(SandboxRun, run_id)
    api(alice, "POST", f"{RUNS}/{run_id}/cancel")
    let_time_pass(run_id)
    tasks.tend_executions()
    assert (read()["status"], read()["error"]) == ("cancelled", None)


def test_a_worker_whose_run_was_given_up_stops_and_changes_nothing(api: Api, alice: Caller) -> None:
    run_id, read = started(api, alice, "6004.4")
    with worker(run_id) as process:
        eventually(lambda: read()["stdout"])
        SandboxRun.objects.update(status="failed", worker="", error_code="worker_lost")
        assert process.wait(120) == 0
    assert processes("6004.4") == []
    assert (read()["status"], read()["error"]["code"]) == ("failed", "worker_lost")


def test_a_worker_that_cannot_reach_the_database_stops_before_it_is_given_up() -> None:
    assert executions.SILENT_MAX_SECONDS < executions.STALE_SECONDS
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
    run_id, _ = started(api, alice, "6005.5")
    taken = at_once(*(lambda: executions.take(SandboxRun, run_id) for _ in range(8)))
    assert sum(row is not None for row in taken) == 1


def test_what_was_given_up_cannot_be_finished(api: Api, alice: Caller) -> None:
    run_id, _ = started(api, alice, "6006.6")
    run = executions.take(SandboxRun, run_id)
    assert run is not None
    let_time_pass(run_id)
    assert executions.give_up(SandboxRun) == 1
    assert not executions.finish(run, Execution.Status.SUCCEEDED)
    assert not executions.Heartbeat(run)(Output(1))
    assert SandboxRun.objects.get().status == "failed"


def let_time_pass(run_id: str) -> None:
    """Set the last heartbeat back."""
    past = timezone.now() - timedelta(seconds=executions.STALE_SECONDS + 1)
    SandboxRun.objects.filter(id=run_id).update(heartbeat_at=past)
