"""What a run needs: a database, the fake upstream, nodes of one version or two, and a proxy in front of them."""

import os
import secrets
import shutil
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import requests
import yaml
from cryptography.fernet import Fernet

from bench.processes import LOOPBACK, Process
from bench.revision import Source
from bench.servers import UpstreamServer
from gateway.run.ports import free_port
from gateway.run.temporary import make_home
from tests.chaos.database import Database
from tests.support.concurrency import eventually
from tests.support.fronts import HOST, Front, front

BASE_URL = f"https://{HOST}"
UVICORN = (
    *("-m", "uvicorn", "gateway.asgi:application", "--host", LOOPBACK, "--timeout-worker-healthcheck", "30"),
    *("--loop", "uvloop", "--http", "gateway.server.protocol:Bounded", "--ws", "gateway.server.sockets:BoundedSocket"),
    *("--no-proxy-headers", "--no-access-log", "--log-level", "warning"),
)
"""As in `deploy/systemd/account-gateway-server.service`."""
NODES = ("one", "two")
START_SECONDS, STOP_SECONDS = 300.0, 120.0


@dataclass(frozen=True, slots=True)
class Version:
    """One version's code, and what the report calls it."""

    name: str
    source: Source


class Node:
    """One server, at the same port and with the same journals in each of its lives, whatever its version."""

    def __init__(self, name: str, home: Path, environment: dict[str, str]) -> None:
        self.name = name
        self.port = free_port()
        self.origin = f"http://{LOOPBACK}:{self.port}"
        self.version = ""
        self._log = home / f"node-{name}.log"
        self._environment = {**environment, "CALL_JOURNAL_DIR": str(home / f"journal-{name}"), "PORT": str(self.port)}
        self._process: subprocess.Popen[bytes] | None = None

    def start(self, version: Version) -> None:
        """Start it, and wait until `/readyz` is 200, as docs/upgrading.md says."""
        self.version = version.name
        command = [str(version.source.python), *UVICORN, "--port", str(self.port)]
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(
                command,
                cwd=version.source.directory,
                env=self._environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        until = time.monotonic() + START_SECONDS
        while not self.is_ready():
            if self._process.poll() is not None or time.monotonic() > until:
                raise RuntimeError(f"node {self.name} did not start:\n{self._log.read_text()[-3000:]}")
            time.sleep(0.2)

    def is_ready(self) -> bool:
        """Return whether it says that it should get requests."""
        try:
            return requests.get(f"{self.origin}/readyz", timeout=10).status_code == 200
        except requests.RequestException:
            return False

    def stop(self) -> None:
        """Send SIGTERM, and wait for the end."""
        if self._process is not None and self._process.poll() is None:
            self._process.send_signal(signal.SIGTERM)
            self._process.wait(STOP_SECONDS)

    def kill(self) -> None:
        """End it and its workers at once, at the end of a run."""
        if self._process is not None and self._process.poll() is None:
            os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait(STOP_SECONDS)


class Jobs(Process):
    """The periodic jobs of one version, ten times as often as scheduled."""

    def __init__(self, home: Path, environment: dict[str, str], version: Version) -> None:
        super().__init__(
            [str(version.source.python), "-m", "tests.chaos.jobs"],
            log=home / f"jobs-{version.name}.log",
            environment=environment,
            is_ready=lambda: True,
            directory=version.source.directory,
        )


class Site:
    """All of it, as a context manager. Nodes are not started yet."""

    def __init__(self, kind: str, workers: int, configuration: dict[str, Any]) -> None:
        self.home = make_home("gateway-upgrade-")
        self.database = Database(self.home)
        self.upstream = UpstreamServer(self.home)
        self._kind, self._workers, self._configuration = kind, workers, configuration
        self._stack = ExitStack()
        # The kernel ends the database together with the thread that started it.
        self._keeper = ThreadPoolExecutor(1, thread_name_prefix="keeper")

    def __enter__(self) -> Self:
        (self.home / "celery" / "messages").mkdir(parents=True)
        (self.home / "celery" / "control").mkdir()
        try:
            self._keeper.submit(self.database.start).result()
            self._stack.enter_context(self.upstream)
            self.environment = self._settings()
            self.nodes = [Node(name, self.home, self.environment) for name in NODES]
            self.front: Front = self._stack.enter_context(
                front(self._kind, self.home / self._kind, [node.origin for node in self.nodes])
            )
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *exc: object) -> None:
        for node in getattr(self, "nodes", ()):
            node.kill()
        self._stack.close()
        self._keeper.submit(self.database.stop).result()
        self._keeper.shutdown()

    def manage(self, version: Version, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run a management command of a version."""
        command = [str(version.source.python), "manage.py", *arguments]
        environment = {**self.environment, "PORT": "0"}
        return subprocess.run(
            command, cwd=version.source.directory, env=environment, capture_output=True, text=True, check=False
        )

    def prepare(self, version: Version) -> None:
        """Bring the database to a version, as its owner does before the nodes are replaced."""
        done = self.manage(version, "prepare")
        if done.returncode:
            raise RuntimeError(f"prepare of {version.name} failed: {done.stdout}{done.stderr}")

    def await_proxy(self) -> None:
        """Wait until the proxy passes requests on."""
        with self.front.client() as client:
            eventually(lambda: client.get(f"{BASE_URL}/livez").status_code == 200)

    def await_calls(self, seconds: float) -> None:
        """Wait for what is open in the ledger to be closed."""
        until = time.monotonic() + seconds
        with self.database.connect() as connection:
            while time.monotonic() < until:
                query = "SELECT count(*) FROM billing_reservation WHERE state NOT IN ('settled', 'released', 'review')"
                if connection.execute(query).fetchone() == (0,):
                    return
                time.sleep(1.0)

    def remove(self) -> None:
        """Delete the run's files."""
        shutil.rmtree(self.home, ignore_errors=True)

    def _settings(self) -> dict[str, str]:
        config = self.home / "gateway.yaml"
        upstream = {"base_url": f"{self.upstream.origin}/v1"}
        for each in self._configuration["upstreams"]:
            each.update(upstream)
        config.write_text(yaml.safe_dump(self._configuration, sort_keys=False))
        return {
            **os.environ,
            "DJANGO_SETTINGS_MODULE": "gateway.settings",
            "GATEWAY_ENV": "production",
            "GATEWAY_BASE_URL": BASE_URL,
            "ALLOWED_HOSTS": f"{LOOPBACK},{HOST}",
            "GATEWAY_CONFIG": str(config),
            "DATABASE_URL": self.database.url,
            "DATA_DIR": str(self.home),
            "SECRET_KEY": secrets.token_urlsafe(48),
            "FIELD_ENCRYPTION_KEYS": Fernet.generate_key().decode(),
            "TRUSTED_PROXIES": LOOPBACK,
            "KEEP_ALIVE_SECONDS": "150",
            "WEB_CONCURRENCY": str(self._workers),
            "SYNC_POOL_MAX_CONNECTIONS": "4",
            "LEDGER_POOL_MAX_CONNECTIONS": "4",
            "PATH": os.pathsep.join((os.environ.get("PATH", ""), "/usr/sbin")),
            "PYTHONPATH": "",
        }


def this_version() -> Version:
    """Return the code that runs this tool."""
    from bench.revision import WORKING_TREE

    return Version("this version", Source(WORKING_TREE.directory, Path(sys.executable)))
