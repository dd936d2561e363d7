"""The documented command with several worker processes: each serves, and one that dies is replaced."""

import os
import shlex
import signal
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from subprocess import Popen

import httpx
import pytest

from gateway.run.options import PROJECT_DIR
from tests.run.machine import workers_of
from tests.support import plain_http
from tests.support.concurrency import PATIENCE_SECONDS, at_once, eventually
from tests.support.processes import gateway_process
from tests.support.stage import Caller, Stage, chat

CALLS = 8


def documented() -> list[str]:
    """Return the arguments of uvicorn's command in the operator's guide."""
    lines = (PROJECT_DIR / "docs" / "operations.md").read_text(encoding="utf-8").splitlines()
    [command] = [line for line in lines if line.startswith("uvicorn ")]
    return shlex.split(command)[1:]


@contextmanager
def served_by(workers: int, journals: Path) -> Iterator[tuple[str, "Popen[bytes]"]]:
    """Run the documented command with a number of workers; yield its origin and first process."""
    arguments = documented()
    arguments[arguments.index("--workers") + 1] = str(workers)
    arguments += ["--log-level", "warning", "--no-access-log", "--port", "{port}"]
    settings = {"CALL_JOURNAL_DIR": str(journals), "DRAIN_SECONDS": str(PATIENCE_SECONDS)}
    with gateway_process("uvicorn", arguments, **settings) as running:
        yield running


def have_served(journals: Path) -> set[int]:
    """Return the processes that have served a call: each has a journal."""
    return {int(path.name.partition("-")[0]) for path in journals.glob("*.journal")}


def call(caller: Caller, origin: str, alias: str) -> None:
    """Make a call on a connection of its own."""
    with plain_http.client(timeout=PATIENCE_SECONDS) as client:
        answer = replace(caller, origin=origin, client=client).post(chat(alias))
    assert answer.status_code == 200, answer.text


def calls_reach(pids: set[int], caller: Caller, origin: str, alias: str, journals: Path) -> None:
    """Call until each of these processes has served."""

    def have_all_served() -> bool:
        at_once(*[lambda: call(caller, origin, alias)] * CALLS)
        return pids <= have_served(journals)

    eventually(have_all_served)


def takes_requests(origin: str) -> bool:
    """Return whether a worker accepts connections. The first process keeps the port until the last worker has ended."""
    try:
        plain_http.request("GET", f"{origin}/livez", timeout=1)
    except httpx.TransportError:
        return False
    return True


@pytest.mark.parametrize("workers", [1, 4])
def test_each_serves_a_killed_one_is_replaced_and_all_end_together(stage: Stage, tmp_path: Path, workers: int) -> None:
    alias, caller = stage.model(max_output_tokens=16), stage.caller(balance=10**8)
    with served_by(workers, tmp_path) as (origin, server):
        eventually(lambda: len(workers_of(server.pid)) == workers)
        first = workers_of(server.pid)
        calls_reach(first, caller, origin, alias, tmp_path)
        if workers > 1:
            victim = first.pop()
            os.kill(victim, signal.SIGKILL)
            eventually(lambda: victim not in workers_of(server.pid) and len(workers_of(server.pid)) == workers)
            assert first < workers_of(server.pid), "the others went on"
            calls_reach(workers_of(server.pid), caller, origin, alias, tmp_path)
        last = workers_of(server.pid)
        with stage.upstream.holding(), ThreadPoolExecutor(1) as thread:
            answered = thread.submit(call, caller, origin, alias)
            eventually(lambda: any(each.state == "dispatched" for each in caller.calls))
            os.killpg(server.pid, signal.SIGTERM)  # as a terminal does; each worker gets a second one from its parent
            eventually(lambda: not takes_requests(origin))
            stage.upstream.release()
            answered.result()
        assert server.wait(PATIENCE_SECONDS) in (0, -signal.SIGTERM)
        assert not [pid for pid in last if Path(f"/proc/{pid}").exists()]
    assert {each.state for each in caller.calls} == {"settled"}
    assert caller.wallet["held"] == 0
