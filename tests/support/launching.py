"""Starts real gateways by `python -m gateway.run`, each on a free port with a data directory of its own."""

import json
import os
import signal
import subprocess
import sys
import sysconfig
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from gateway.run.identity import Identity, database_identity
from gateway.run.leftovers import identify
from gateway.run.options import PROJECT_DIR
from gateway.run.ports import free_port
from tests.support.database import make_home

PATIENCE_SECONDS = 120.0
OURS = (
    "DATABASE_URL",
    "DATA_DIR",
    "DJANGO_SETTINGS_MODULE",
    "SECRET_KEY",
    "FIELD_ENCRYPTION_KEYS",
    "TEST_DATABASE_URL",
)
COMMAND = (sys.executable, "-m", "gateway.run")


@dataclass(slots=True)
class RunningGateway:
    """One supervisor process and what it printed."""

    data_dir: Path = field(default_factory=lambda: make_home() / "data")
    port: int = field(default_factory=free_port)
    settings: dict[str, str] = field(default_factory=dict)
    command: Sequence[str] = COMMAND
    identity: Identity | None = None
    process: subprocess.Popen[bytes] | None = None

    @property
    def base_url(self) -> str:
        """Return where it answers."""
        return f"http://127.0.0.1:{self.port}"

    @property
    def stdout(self) -> str:
        """Return what it said so far."""
        return self._path("out").read_text()

    @property
    def stderr(self) -> str:
        """Return what it complained about so far."""
        return self._path("err").read_text()

    def start(self) -> "RunningGateway":
        """Start without waiting."""
        with self._path("out").open("wb") as out, self._path("err").open("wb") as err:
            self.process = subprocess.Popen(
                self.command,
                cwd=PROJECT_DIR,
                env=self.environment(),
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=err,
                start_new_session=True,
                **(self.identity.spawn_arguments() if self.identity else {}),
            )
        return self

    def environment(self) -> dict[str, str]:
        """Return what it, and a command in another shell, are given."""
        kept = {name: value for name, value in os.environ.items() if name not in OURS}
        return {**kept, "DATA_DIR": str(self.data_dir), "PORT": str(self.port), **self.settings}

    def wait_until_ready(self) -> "RunningGateway":
        """Wait for the ready line."""
        eventually(lambda: self._is_ready() or self.has_ended())
        assert self._is_ready(), self.stderr
        return self

    def wait(self) -> int:
        """Wait for its end and return the exit code."""
        assert self.process is not None
        return self.process.wait(PATIENCE_SECONDS)

    def has_ended(self) -> bool:
        """Tell whether the supervisor is gone."""
        return self.process is not None and self.process.poll() is not None

    def stop(self, how: signal.Signals = signal.SIGTERM) -> int:
        """Send a signal to the supervisor alone and return its exit code."""
        assert self.process is not None
        self.process.send_signal(how)
        return self.wait()

    def children(self) -> dict[str, int]:
        """Return the processes that it says it runs."""
        recorded = json.loads((self.data_dir / "run.json").read_text())["children"]
        return {name: child["pid"] for name, child in recorded.items()}

    def health(self) -> int:
        """Return the status of GET /healthz, 0 when nobody answers."""
        try:
            with urllib.request.urlopen(f"{self.base_url}/healthz", timeout=10) as response:
                return int(response.status)
        except urllib.error.HTTPError as error:
            return error.code
        except OSError:
            return 0

    def manage(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run a management command as another shell would: with the data directory only."""
        command = [sys.executable, "manage.py", *arguments]
        return subprocess.run(command, cwd=PROJECT_DIR, env=self.environment(), capture_output=True, text=True)

    def _is_ready(self) -> bool:
        return f"ready: {self.base_url}\n" in self.stdout

    def _path(self, name: str) -> Path:
        return self.data_dir.parent / f"{self.data_dir.name}.{name}"


def eventually(is_so: Callable[[], object], seconds: float = PATIENCE_SECONDS) -> None:
    """Wait until `is_so()` holds; fail when it does not in `seconds`."""
    deadline = time.monotonic() + seconds
    while not is_so():
        assert time.monotonic() < deadline, f"waited {seconds} s in vain"
        time.sleep(0.05)


def processes_of(data_dir: Path) -> list[int]:
    """Return every live process that has this data directory in its environment or command line."""
    needle = os.fsencode(data_dir)
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            told = (entry / "environ").read_bytes() + (entry / "cmdline").read_bytes()
        except OSError:
            continue
        if needle in told and identify(int(entry.name)):
            found.append(int(entry.name))
    return found


def plain_user() -> tuple[Identity, str] | None:
    """Return a user without privileges and a Python that it may run here, or None when there is none."""
    identity = database_identity()
    if identity is None or not identity.reaches(PROJECT_DIR):
        return None
    pythons = (sys.executable, f"/usr/bin/python{sys.version_info.major}.{sys.version_info.minor}")
    python = next((path for path in pythons if Path(path).exists() and identity.reaches(Path(path))), None)
    return (identity, python) if python and identity.reaches(site_packages()) else None


def site_packages() -> Path:
    """Return where the requirements are installed."""
    return Path(sysconfig.get_path("purelib"))
