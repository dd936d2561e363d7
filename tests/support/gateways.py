"""Whole gateways in separate processes, started with `python -m gateway.run`."""

import json
import os
import signal
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

from gateway.run.identity import Identity
from gateway.run.options import PROJECT_DIR
from gateway.run.ports import free_port
from tests.support.concurrency import PATIENCE_SECONDS, eventually
from tests.support.database import make_home
from tests.support.forked import Forked, run
from tests.support.migrated import copy_cluster

WHOLE_GATEWAY = (sys.executable, "-m", "gateway.run")
FORKED_GATEWAY = (sys.executable, "-m", "tests.support.forked_gateway")
OURS = (
    "DATABASE_URL",
    "DATA_DIR",
    "CALL_JOURNAL_DIR",
    "DJANGO_SETTINGS_MODULE",
    "SECRET_KEY",
    "FIELD_ENCRYPTION_KEYS",
    "TEST_DATABASE_URL",
)
"""Settings of the test process that a separate gateway must not inherit."""
NEWS = ("INFO/MainProcess] Sandbox: bubblewrap", "INFO gateway.version ")
"""Of lines that complain of nothing."""


@dataclass
class GatewayProcess:
    """One process and its output; the context manager starts it, waits until it is ready, and always stops it."""

    popen = subprocess.Popen
    data_dir: Path = field(default_factory=lambda: make_home() / "data")
    port: int = field(default_factory=free_port)
    settings: dict[str, str] = field(default_factory=dict)
    command: Sequence[str] = WHOLE_GATEWAY
    identity: Identity | None = None
    process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        try:
            return self.start().wait_until_ready()
        except BaseException:
            self.__exit__()
            raise

    def __exit__(self, *exc: object) -> None:
        if not self.has_ended():
            self.stop()

    @property
    def base_url(self) -> str:
        """Return its base URL."""
        return f"http://localhost:{self.port}"

    @property
    def stdout(self) -> str:
        """Return its standard output so far."""
        return self._path("out").read_text()

    @property
    def stderr(self) -> str:
        """Return its standard error so far."""
        return self._path("err").read_text()

    @property
    def complaints(self) -> str:
        """Return its standard error without the lines in which the sandbox worker reports its limits, and servers their version."""
        lines = self.stderr.splitlines(keepends=True)
        return "".join(line for line in lines if not any(news in line for news in NEWS))

    @property
    def log(self) -> str:
        """Return all of its output so far."""
        return self.stdout + self.stderr

    @property
    def environment(self) -> dict[str, str]:
        """Return its environment, which commands in other shells share."""
        inherited = {name: value for name, value in os.environ.items() if name not in OURS}
        ours = {"DATA_DIR": str(self.data_dir), "PORT": str(self.port), "DRAIN_NOTICE_SECONDS": "0"}
        return {**inherited, **ours, **self.settings}

    def start(self) -> Self:
        """Start without waiting."""
        with self._path("out").open("wb") as out, self._path("err").open("wb") as err:
            self.process = self.popen(
                self.command,
                cwd=PROJECT_DIR,
                env=self.environment,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=err,
                start_new_session=True,
                **(self.identity.spawn_arguments() if self.identity else {}),
            )
        return self

    def wait_until_ready(self) -> Self:
        """Wait for the ready line."""
        eventually(lambda: self.is_ready() or self.has_ended())
        assert self.is_ready(), self.log
        return self

    def wait(self) -> int:
        """Wait for its end and return the exit code."""
        assert self.process is not None
        return self.process.wait(PATIENCE_SECONDS)

    def has_ended(self) -> bool:
        """Return whether the process has ended."""
        return self.process is not None and self.process.poll() is not None

    def is_ready(self) -> bool:
        """Return whether it reported that it is ready."""
        return f"ready: {self.base_url}\n" in self.stdout

    def stop(self, how: signal.Signals = signal.SIGTERM) -> int:
        """Send a signal to the process alone and return its exit code."""
        assert self.process is not None
        self.process.send_signal(how)
        return self.wait()

    def children(self) -> dict[str, int]:
        """Return the process ids of its recorded children."""
        recorded = json.loads((self.data_dir / "run.json").read_text())["children"]
        return {name: child["pid"] for name, child in recorded.items()}

    def health(self) -> int:
        """Return the status of GET /healthz, or 0 if there is no response."""
        try:
            with urllib.request.urlopen(f"{self.base_url}/healthz", timeout=PATIENCE_SECONDS) as response:
                return int(response.status)
        except urllib.error.HTTPError as error:
            return error.code
        except OSError:
            return 0

    def run(self, *command: str, **environment: str) -> subprocess.CompletedProcess[str]:
        """Run a Python program as from another shell."""
        return run([sys.executable, *command], cwd=PROJECT_DIR, env=self.environment | environment)

    def manage(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run a management command as from another shell."""
        return self.run("manage.py", *arguments)

    def _path(self, name: str) -> Path:
        return self.data_dir.parent / f"{self.data_dir.name}.{name}"


@dataclass
class ForkedGateway(GatewayProcess):
    """For tests of something else than a gateway's first start: its processes are forked, its database is migrated already."""

    popen = Forked
    command: Sequence[str] = FORKED_GATEWAY

    @property
    def environment(self) -> dict[str, str]:
        """Return its environment, which commands in other shells share."""
        return {"DJANGO_SETTINGS_MODULE": "tests.support.whole_settings", **super().environment}

    def start(self) -> Self:
        """Start without waiting."""
        if not (self.data_dir.exists() or "DATABASE_URL" in self.settings):
            copy_cluster(self.data_dir)
        return super().start()
