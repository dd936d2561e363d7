"""Runs on a real worker: output while running, cancellation, and the effects of killing the worker or its children."""

import os
import signal
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.db import connection

from gateway.celery import app
from integrations import tasks
from integrations.adapters import usage
from integrations.models import SandboxRun
from tests.factories.accounts import Caller, make_caller
from tests.integrations.conftest import Api
from tests.integrations.sandbox import (
    RUNS,
    SCOPES,
    configure,
    duration,
    let_time_pass,
    namespace,
    pids,
    processes,
    queued,
    wake,
)
from tests.integrations.sandbox_worker import Worker, queue_is_empty
from tests.integrations.test_projects import project
from tests.support.concurrency import PATIENCE_SECONDS, eventually

pytestmark = pytest.mark.django_db(transaction=True)

CANCELLED_WITHIN_SECONDS = 60.0
"""Far less than the program would take, and enough for a busy machine."""
UNRULY = "trap '' TERM INT HUP; for i in 1 2 3; do (setsid sleep {mark} &); done; echo begun; sleep {mark}"
"""Writes a line, and leaves processes in sessions of their own that ignore signals."""


@pytest.fixture(scope="module")
def workers(django_db_setup: None, django_db_blocker: Any) -> Iterator[Callable[[], Worker]]:
    """Provide a worker, shared between tests until it ends."""
    alive: list[Worker] = []

    def worker() -> Worker:
        if not alive or alive[-1].has_ended():
            alive.append(Worker().__enter__())
        return alive[-1]

    yield worker
    for each in alive:
        each.__exit__()


@pytest.fixture(autouse=True)
def _real_queue() -> Iterator[None]:
    """Send tasks to the worker; the tests' settings would execute them at once."""
    app.conf.task_always_eager = False
    yield
    app.conf.task_always_eager = True


@pytest.fixture
def alice() -> Caller:
    configure(max_timeout_seconds=600)
    return make_caller(*SCOPES)


@pytest.fixture
def worker(workers: Callable[[], Worker], alice: Caller) -> Worker:
    return workers()


class Run:
    """A run, through the API."""

    def __init__(self, api: Api, who: Caller, script: str) -> None:
        self._api, self._who = api, who
        self.id = queued(api, who, project(who.account.did), script, timeoutSeconds=600)

    def read(self) -> dict[str, Any]:
        """Return its current state."""
        return dict(self._api(self._who, "GET", f"{RUNS}/{self.id}")[1])

    @property
    def heartbeat_at(self) -> Any:
        """Return when its worker last reported."""
        return SandboxRun.objects.values_list("heartbeat_at", flat=True).get(id=self.id)

    def cancel(self) -> None:
        """Cancel it."""
        assert self._api(self._who, "POST", f"{RUNS}/{self.id}/cancel")[0] == 202

    def has_written(self, text: str) -> None:
        """Wait for its output while it runs."""
        body = eventually(lambda: (body := self.read())["stdout"] == text and body)
        assert (body["status"], body["finishedAt"]) == ("running", None)

    def is_over(self) -> dict[str, Any]:
        """Wait for its end."""
        return eventually(lambda: (body := self.read())["finishedAt"] and body)


def unruly(api: Api, alice: Caller, mark: str) -> Run:
    """Start a run that ignores signals, and wait for all of its processes."""
    run = Run(api, alice, UNRULY.format(mark=mark))
    run.has_written("begun\n")
    assert len(processes(mark)) >= 5
    return run


def test_output_is_read_while_the_run_is_under_way(api: Api, alice: Caller, worker: Worker) -> None:
    run = Run(api, alice, f"echo one; read line; sleep {(pause := duration(6007))}; echo two; exit 3")
    run.has_written("one\n")
    wake(pause)
    body = run.is_over()
    assert (body["status"], body["stdout"], body["exitCode"]) == ("failed", "one\ntwo\n", 3)


def test_cancelling_ends_the_whole_tree(api: Api, alice: Caller, worker: Worker) -> None:
    run = unruly(api, alice, mark := duration(6001))
    inside = namespace(processes(mark)[0])
    began = time.monotonic()
    run.cancel()
    run.cancel()
    body = run.is_over()
    assert time.monotonic() - began < CANCELLED_WITHIN_SECONDS
    assert inside not in map(namespace, pids())
    assert (body["status"], body["exitCode"], body["error"]) == ("cancelled", None, None)


def test_an_abandoned_run_is_stopped_and_does_not_change(api: Api, alice: Caller, worker: Worker) -> None:
    run = unruly(api, alice, mark := duration(6004))
    SandboxRun.objects.update(status="failed", worker="", error_code="worker_lost")
    eventually(lambda: not processes(mark))
    eventually(lambda: not list(usage.descendants(worker.process.pid)))  # the next test finds its launcher among them
    assert run.read()["error"]["code"] == "worker_lost"


def test_a_killed_launcher_fails_its_run_and_leaves_no_orphan(api: Api, alice: Caller, worker: Worker) -> None:
    run = unruly(api, alice, mark := duration(6005))
    launcher = next(iter(usage.descendants(worker.process.pid)))
    os.kill(launcher, signal.SIGKILL)
    body = run.is_over()
    eventually(lambda: not processes(mark))
    assert (body["status"], body["error"]) == (
        "failed",
        {"code": "worker_lost", "message": "The sandbox was killed from outside."},
    )


def test_the_database_may_hang_up_meanwhile(api: Api, alice: Caller, worker: Worker) -> None:
    run = Run(api, alice, f"echo one; sleep {(pause := duration(6008))}; echo two")
    run.has_written("one\n")
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            " WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )
    before = run.heartbeat_at
    eventually(lambda: run.heartbeat_at > before)
    wake(pause)
    body = run.is_over()
    assert (body["status"], body["stdout"]) == ("succeeded", "one\ntwo\n")


def test_several_messages_and_two_workers_execute_a_run_once(api: Api, alice: Caller, worker: Worker) -> None:
    with Worker():
        run = unruly(api, alice, mark := duration(6006))
        for _ in range(12):
            tasks.begin(tasks.execute_run, run.id)
        eventually(queue_is_empty)
        Run(api, alice, "true").is_over()
        assert len({namespace(pid) for pid in processes(mark)}) == 1
        run.cancel()
        run.is_over()


def test_a_killed_worker_leaves_no_orphan_and_its_run_fails(api: Api, alice: Caller, worker: Worker) -> None:
    run = unruly(api, alice, mark := duration(6002))
    worker.end(signal.SIGKILL)
    eventually(lambda: not processes(mark))
    assert tasks.tend_executions() == 0
    assert run.read()["status"] == "running"
    let_time_pass(run.id)
    assert tasks.tend_executions() == 1
    body = run.read()
    assert (body["status"], body["stdout"], body["exitCode"]) == ("failed", "begun\n", None)
    assert body["error"] == {"code": "worker_lost", "message": "The worker that executed this stopped."}
    assert body["finishedAt"] is not None
    assert SandboxRun.objects.get().inputs == ""


def test_a_worker_that_shuts_down_finishes_short_runs_and_stops_long_ones(
    api: Api, alice: Caller, worker: Worker
) -> None:
    short = Run(api, alice, f"echo one; sleep {(pause := duration(6009))}; echo two")
    long = unruly(api, alice, mark := duration(6003))
    short.has_written("one\n")
    worker.process.send_signal(signal.SIGTERM)
    eventually(lambda: "Warm shutdown" in worker.log)
    wake(pause)
    assert worker.process.wait(PATIENCE_SECONDS) == 0
    eventually(lambda: not processes(mark))
    assert (short.read()["status"], short.read()["stdout"]) == ("succeeded", "one\ntwo\n")
    assert (long.read()["status"], long.read()["error"]["code"]) == ("failed", "worker_lost")
