"""The metrics of several processes in one scrape, over real sockets."""

import os
import re
import signal
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from gateway.celery import app
from tests.metrics.machine import Machine, machine
from tests.run.machine import workers_of
from tests.server.test_workers import CALLS
from tests.support import plain_http
from tests.support.concurrency import PATIENCE_SECONDS, at_once, eventually
from tests.support.stage import Caller, Stage, chat
from tests.support.stage_fixtures import db  # noqa: F401

pytestmark = pytest.mark.usefixtures("db")

WORKERS = 2
JOB = "gateway.core.jobs.tasks.purge_runs"


@pytest.fixture
def here(tmp_path: Path) -> Iterator[Machine]:
    with machine(tmp_path) as running:
        yield running


def call(caller: Caller, origin: str, alias: str) -> int:
    """Make a call on a connection of its own, and return its status."""
    with plain_http.client(timeout=PATIENCE_SECONDS) as client:
        return replace(caller, origin=origin, client=client).post(chat(alias)).status_code


def calls(count: int, caller: Caller, origin: str, alias: str) -> None:
    assert at_once(*[lambda: call(caller, origin, alias)] * count) == [200] * count


def have_counted(folder: Path) -> set[str]:
    """Return the names of the files in which calls were counted."""
    return {path.name for path in folder.glob("histogram_*.db")}


@pytest.mark.filterwarnings("ignore:task_always_eager has no effect on send_task")
def test_the_figures_of_all_processes_add_up(here: Machine, stage: Stage, tmp_path: Path) -> None:
    alias, caller = stage.model(), stage.caller(balance=10**8)
    with here.server(WORKERS) as (origin, server), here.worker() as worker:
        eventually(lambda: len(workers_of(server.pid)) == WORKERS)
        while len(have_counted(tmp_path)) < WORKERS:
            calls(CALLS, caller, origin, alias)
            eventually(lambda: here.value("gateway_calls_total", outcome="settled") == caller.call_count)
        made = caller.call_count
        assert call(caller, origin, "unknown-model") == 404
        eventually(lambda: here.value("gateway_calls_total") == made + 1)
        app.send_task(JOB)
        eventually(lambda: here.value("gateway_job_runs_total", job=JOB, outcome="done"))
        scrape = here.scrape()
        assert scrape.value("gateway_charged_microusd_total", model=alias) == charged(caller)
        assert scrape.value("gateway_call_seconds_count", route="chat.completions") == made + 1
        assert scrape.value("gateway_upstream_requests_total", outcome="ok") == made
        assert scrape.value("gateway_calls_total", model="", outcome="refused") == 1
        assert "unknown-model" not in scrape.text
        assert_nothing_private(scrape.text, caller)
        for pid in workers_of(server.pid):
            os.kill(pid, signal.SIGKILL)
        after = here.scrape()
        assert after.value("gateway_calls_total") == made + 1, "a kill -9 takes nothing of what was counted"
        assert worker.process is not None
        eventually(lambda: len(workers_of(server.pid)) == WORKERS)
        assert len(list(tmp_path.glob("counter_*.db"))) == WORKERS + 1


def charged(caller: Caller) -> int:
    return sum(each.charge_microusd or 0 for each in caller.calls)


def assert_nothing_private(text: str, caller: Caller) -> None:
    assert caller.did not in text
    assert "did:" not in text
    assert set(re.findall(r'[{,]([a-z_]+)="', text)) <= {
        *("route", "model", "outcome", "upstream", "product", "scope", "limit", "job", "le", "version"),
    }


def test_an_open_stream_is_counted_while_it_is_open(here: Machine, stage: Stage) -> None:
    alias, caller = stage.model(), stage.caller(balance=10**8)
    with here.server(WORKERS) as (origin, _), plain_http.client(timeout=PATIENCE_SECONDS) as client:
        there = replace(caller, origin=origin, client=client)
        with stage.upstream.holding(), there.stream(chat(alias, stream=True)) as answer:
            lines = answer.iter_lines()
            next(lines)
            eventually(lambda: here.value("gateway_streams_open") == 1)
        eventually(lambda: here.value("gateway_streams_open") == 0)


def test_only_metrics_are_served(here: Machine) -> None:
    assert here.get("/").status_code == 404
    assert here.get("/healthz").status_code == 404
    assert here.scrape().value("gateway_database_up") == 1
