"""Several nodes on one database, with a broker and without one: what they share, and who does their jobs.

What a node's death leaves is in test_two_machines, limits are in tests/inference/calls/test_limits_two_processes, and that each job may
run twice at once is in tests/gateway/jobs.
"""

import os
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import httpx
import pytest
from django.db.models import Sum

from billing.queries import audit
from gateway.core.jobs.models import JobRun
from tests.faults.test_redis_away import Broker
from tests.portal.browser import Browser
from tests.support.concurrency import at_once, eventually
from tests.support.forked import run
from tests.support.processes import WorkerProcess, gateway_process, worker_process
from tests.support.stage import CHAT, Caller, Stage, chat

JOB = "billing.tasks.reap"
REFUSED = "Too many failed sign-in attempts"
GUESSES = 5
"""Wrong passwords that are allowed for an account (FAILED_SIGN_INS_PER_5_MINUTES)."""


@dataclass
class Node:
    """A server, and a worker if there is one, with a data directory of their own."""

    settings: dict[str, str]
    origin: str
    worker: WorkerProcess | None = None

    @classmethod
    def start(cls, running: ExitStack, data_dir: Path, broker_url: str, *, has_worker: bool = True) -> "Node":
        """Start a node whose messages go to a broker, or into files of its own."""
        for name in ("messages", "control"):
            (data_dir / "celery" / name).mkdir(parents=True)
        settings = {"DATA_DIR": str(data_dir), "CALL_JOURNAL_DIR": str(data_dir / "journal"), "REDIS_URL": broker_url}
        settings["CELERY_BROKER_URL"] = broker_url or "files://localhost"
        origin, _ = running.enter_context(gateway_process(**settings))
        node = cls(settings, origin)
        if has_worker:
            node.worker = running.enter_context(worker_process(**settings))
        return node

    def schedule(self) -> None:
        """Send a job as this node's scheduler does."""
        command = [sys.executable, "-m", "tests.faults.sending_job", JOB]
        done = run(command, env={**os.environ, **self.settings})
        assert done.returncode == 0, done.stderr

    def call(self, caller: Caller, alias: str, key: str) -> httpx.Response:
        """Make a call here."""
        headers = caller.headers(CHAT) | {"Idempotency-Key": key, "x-service-max-cost-microusd": "100000"}
        return httpx.post(self.origin + CHAT, json=chat(alias), headers=headers, timeout=60)


def guess(origin: str) -> str:
    """Send a wrong password; return the page."""
    with Browser(origin) as browser:
        return browser.sign_in("somebody@example.com", "wrong").text


def runs() -> int:
    """Return how often the job has been done."""
    return JobRun.objects.filter(job=JOB, outcome="done").aggregate(sum=Sum("runs"))["sum"] or 0


@pytest.fixture(params=["no broker", "Redis"])
def broker_url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """Return the address of a broker, if there is one."""
    if request.param == "no broker":
        yield ""
        return
    broker = Broker(tmp_path)
    yield broker.url
    broker.kill()


def test_nodes_share_wallets_answers_and_guesses_and_each_has_its_jobs_done(
    stage: Stage, tmp_path: Path, broker_url: str
) -> None:
    alias, caller, first = stage.model(max_output_tokens=20), stage.caller(balance=10**6), runs()
    with ExitStack() as running:
        nodes = [Node.start(running, tmp_path / name, broker_url) for name in ("one", "other")]

        turns = [(str(number), node) for number, node in enumerate(nodes * 4)]
        answers = at_once(*[partial(node.call, caller, alias, key) for key, node in turns])
        assert {answer.status_code for answer in answers} == {200}
        assert nodes[1].call(caller, alias, turns[0][0]).content == answers[0].content
        eventually(lambda: {call.state for call in caller.calls} == {"settled"})
        assert len(caller.calls) == len(turns), "a key is one call, wherever it is repeated"

        refused = [REFUSED in guess(nodes[number % 2].origin) for number in range(2 * GUESSES)]
        assert refused.count(False) <= GUESSES + 1, "both count the same guesses"
        assert refused[-2:] == [True, True]

        for node in nodes:
            before = runs()
            node.schedule()
            eventually(partial(lambda before: runs() == before + 1, before))
        at_once(*[node.schedule for node in nodes * 3])
        eventually(lambda: runs() == first + 8)
    charged = sum(call.charge_microusd or 0 for call in caller.calls)
    assert caller.wallet == {"balance": 10**6 - charged, "held": 0, "debt": 0}
    assert audit.findings() == []
