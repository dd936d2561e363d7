"""A real worker of sandbox runs: a Celery process with the tests' database and a file-based queue."""

import os
import signal
import sys
from pathlib import Path
from typing import Self

from gateway.run.options import PROJECT_DIR
from gateway.run.services import sandbox
from tests.support.concurrency import PATIENCE_SECONDS, eventually
from tests.support.database import database_url, make_home
from tests.support.forked import Forked

MESSAGES = Path(os.environ["DATA_DIR"]) / "celery" / "messages"
READY = "Sandbox: "


class Worker:
    """The process that `make run` starts for sandbox runs. The context manager waits until it is ready and kills it at
    the end.
    """

    def __init__(self) -> None:
        self._log = make_home() / "log"
        service = sandbox({**os.environ, "DATABASE_URL": database_url()})
        for folder in (MESSAGES, MESSAGES.with_name("control")):
            folder.mkdir(parents=True, exist_ok=True)
        with self._log.open("wb") as log:
            self.process = Forked(
                service.command, env=dict(service.environment), cwd=PROJECT_DIR, stdout=log, stderr=log
            )

    def __enter__(self) -> Self:
        eventually(lambda: READY in self.log or self.has_ended())
        assert not self.has_ended(), self.log
        return self

    def __exit__(self, *exc: object) -> None:
        self.end(signal.SIGKILL)
        sys.stdout.write(self.log)  # pytest shows it if a test fails

    @property
    def log(self) -> str:
        """Return its output so far."""
        return self._log.read_text()

    def has_ended(self) -> bool:
        """Return whether the process is gone."""
        return self.process.poll() is not None

    def end(self, how: signal.Signals) -> int:
        """Send a signal and return the exit code."""
        self.process.send_signal(how)
        return self.process.wait(PATIENCE_SECONDS)


def queue_is_empty() -> bool:
    """Return whether every message was read."""
    return not list(MESSAGES.glob("*.sandbox.msg"))
