"""Two servers are replaced one after the other under load, as an upgrade does, and no request stays without an answer.

The clients choose a server as a load balancer does: one whose `/readyz` is 200.
"""

import json
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from functools import partial
from subprocess import Popen
from typing import Any

import httpx

from billing.queries import audit
from tests.server.test_draining import UVICORN
from tests.support import plain_http
from tests.support.concurrency import eventually
from tests.support.processes import gateway_process
from tests.support.stage import Caller, Stage, chat

SETTINGS = {"DRAIN_NOTICE_SECONDS": "6", "DRAIN_SECONDS": "60"}
PAUSE_SECONDS = 0.1
"""Between the requests of a client: as many as the processors can do would only keep the servers from starting."""


@dataclass
class Cluster:
    """Two servers by name, each with a number of worker processes."""

    stack: ExitStack
    workers: dict[str, int]
    origins: dict[str, str] = field(default_factory=dict)
    processes: dict[str, "Popen[bytes]"] = field(default_factory=dict)

    def start(self, name: str) -> None:
        """Start one."""
        running = gateway_process("uvicorn", (*UVICORN, f"--workers={self.workers[name]}"), **SETTINGS)
        self.origins[name], self.processes[name] = self.stack.enter_context(running)

    def replace(self, name: str) -> None:
        """Stop one, wait for its end, start another, and wait until that is ready."""
        self.processes[name].terminate()
        self.processes[name].wait(timeout=120)
        self.start(name)
        eventually(lambda: is_ready(self.origins[name]))

    def choose(self, turn: int) -> str:
        """Return a server that should get requests."""
        origins = sorted(self.origins.values(), key=lambda origin: hash((origin, turn)))
        return eventually(lambda: next((origin for origin in origins if is_ready(origin)), ""))


def is_ready(origin: str) -> bool:
    try:
        with plain_http.client(timeout=30) as client:
            return client.get(f"{origin}/readyz").status_code == 200
    except httpx.TransportError:
        return False


def read_stream(caller: Caller, body: Any) -> None:
    with caller.stream(body) as answer:
        lines = [line for line in answer.iter_lines() if line]
    assert lines[-2] == "data: [DONE]", lines[-2:]
    assert json.loads(lines[-1].removeprefix(": service "))["charge_microusd"] > 0


def read_whole(caller: Caller, body: Any) -> None:
    answer = caller.post(body)
    assert answer.status_code == 200, answer.text
    assert int(answer.headers["x-service-charge-microusd"]) > 0


def test_no_request_stays_without_an_answer(stage: Stage) -> None:
    caller, body = stage.caller(balance=10**9), chat(stage.model("small-1?tokens=40", max_output_tokens=50))
    is_over = threading.Event()

    def load(read: Callable[[Caller, Any], None]) -> int:
        turn = 0
        while not is_over.wait(PAUSE_SECONDS):
            turn += 1
            with plain_http.client(timeout=120) as client:
                read(replace(caller, origin=cluster.choose(turn), client=client), body)
        return turn

    with ExitStack() as stack:
        cluster = Cluster(stack, {"one": 1, "two": 2})
        for name in cluster.workers:
            cluster.start(name)
            eventually(partial(is_ready, cluster.origins[name]))
        threads = stack.enter_context(ThreadPoolExecutor())
        stack.callback(is_over.set)
        loads = [threads.submit(load, read) for read in (read_stream, read_stream, read_whole)]
        for name in cluster.workers:
            cluster.replace(name)
        is_over.set()
        turns = [running.result() for running in loads]
    assert min(turns) > 1
    eventually(lambda: {call.state for call in caller.calls} == {"settled"})
    assert len(caller.calls) == sum(turns)
    assert audit.findings() == []
