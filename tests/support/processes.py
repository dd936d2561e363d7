"""Servers in separate processes, on the tests' database."""

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import cycle
from pathlib import Path
from typing import Any

import httpx

from gateway.run.children import signal_group
from tests.factories.accounts import Caller
from tests.support import plain_http
from tests.support.database import database_url
from tests.support.forked import Forked
from tests.support.gateways import GatewayProcess


class ServerProcess(GatewayProcess):
    """A server on the tests' database, without its own database, worker and scheduler."""

    popen = Forked

    def is_ready(self) -> bool:
        """Return whether it is listening."""
        with socket.socket() as probe:
            return probe.connect_ex(("127.0.0.1", self.port)) == 0

    def __exit__(self, *exc: object) -> None:
        self.stop(signal.SIGKILL)
        assert self.process is not None
        signal_group(self.process.pid, signal.SIGKILL)  # its workers, which would serve for a while
        sys.stdout.write(self.log)  # pytest shows it if a test fails


@contextmanager
def gateway_process(
    module: str = "tests.faults.crashing_server", arguments: Sequence[str] = (), **environment: str
) -> Iterator[tuple[str, "subprocess.Popen[bytes]"]]:
    """Run `python -m module` with its port in PORT and for "{port}" in its arguments; yield its origin and process."""
    server = ServerProcess(settings={**os.environ, "DATABASE_URL": database_url(), **environment})
    server.settings["PORT"] = str(server.port)
    server.command = (sys.executable, "-m", module, *(argument.format(port=server.port) for argument in arguments))
    with server:
        assert server.process is not None
        yield server.base_url, server.process


class WorkerProcess(ServerProcess):
    """A Celery worker on the tests' database. `mark` is what it logs once it is ready."""

    mark = " ready."

    def is_ready(self) -> bool:
        """Return whether it takes messages, unless the mark says otherwise."""
        return self.mark in self.log


@contextmanager
def worker_process(mark: str = WorkerProcess.mark, **environment: str) -> Iterator[WorkerProcess]:
    """Run a worker that takes the messages of the tests' broker; yield it once it has logged `mark`."""
    flags = ("--pool=threads", "--concurrency=1", "--loglevel=info", "--without-gossip", "--without-mingle")
    command = (sys.executable, "-m", "celery", "--app=gateway.celery", "worker", *flags)
    for name in ("messages", "control"):
        Path(os.environ["DATA_DIR"], "celery", name).mkdir(parents=True, exist_ok=True)
    settings = {**os.environ, "DATABASE_URL": database_url(), **environment}
    worker = WorkerProcess(settings=settings, command=command)
    worker.mark = mark
    with worker:
        yield worker


@contextmanager
def two_processes(**environment: str) -> Iterator[list[str]]:
    """Run two servers, for concurrent requests to both, and yield their origins."""
    with gateway_process(**environment) as (one, _), gateway_process(**environment) as (other, _):
        yield [one, other]


def by_turns(origins: Sequence[str], send: Callable[..., Any], each: Sequence[Any]) -> list[Callable[[], Any]]:
    """Build the calls `send(origin, one)` for each item, to the processes in turn."""
    return [partial(send, origin, one) for origin, one in zip(cycle(origins), each, strict=False)]


def send(caller: Caller, origin: str, method: str, path: str, body: Any = None) -> httpx.Response:
    """Send an API request with a new proof."""
    headers = caller.headers(method, path)
    return plain_http.request(method, origin + path, json=body, headers=headers, timeout=60)
