"""A machine whose processes are counted: the one that serves the metrics, a server with several workers, and a Celery worker."""

import os
import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from subprocess import Popen

import httpx

from tests.metrics.text import Scrape
from tests.server.test_workers import documented
from tests.support.concurrency import PATIENCE_SECONDS
from tests.support.database import database_url
from tests.support.processes import ServerProcess, WorkerProcess, gateway_process, worker_process


@dataclass(frozen=True)
class Machine:
    """Where its metrics are served, and the settings that its processes share."""

    address: str
    settings: dict[str, str]

    def get(self, path: str = "/metrics") -> httpx.Response:
        return httpx.get(f"http://{self.address}{path}", timeout=PATIENCE_SECONDS)

    def scrape(self) -> Scrape:
        answer = self.get()
        assert answer.status_code == 200
        assert answer.headers["content-type"] == "text/plain; version=0.0.4; charset=utf-8"
        return Scrape(answer.text)

    def value(self, name: str, **labels: str) -> float:
        """Return the sum of the series that have these labels, as of now."""
        return self.scrape().value(name, **labels) or 0

    def server(self, workers: int) -> AbstractContextManager[tuple[str, "Popen[bytes]"]]:
        """Run the documented command with a number of workers; yield its origin and first process."""
        arguments = documented()
        arguments[arguments.index("--workers") + 1] = str(workers)
        arguments += ["--log-level", "warning", "--no-access-log", "--port", "{port}"]
        return gateway_process("uvicorn", arguments, **self.settings)

    def worker(self) -> AbstractContextManager[WorkerProcess]:
        """Run a Celery worker."""
        return worker_process(**self.settings)


@contextmanager
def machine(folder: Path, host: str = "127.0.0.1") -> Iterator[Machine]:
    """Serve the metrics of what writes to a folder."""
    process = ServerProcess(command=(sys.executable, "-m", "gateway.metrics"))
    address = f"{host}:{process.port}"
    settings = {"METRICS_ADDRESS": address, "METRICS_DIR": str(folder), "CALL_JOURNAL_DIR": str(folder / "journal")}
    process.settings = {**os.environ, "DATABASE_URL": database_url(), **settings}
    with process:
        yield Machine(address, settings)
