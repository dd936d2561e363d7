"""The installation of a run: database, fake upstream, two servers of the gateway and the jobs, supervised as by `make
run`."""

import os
import secrets
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any, Self, TextIO

import yaml
from cryptography.fernet import Fernet

from bench.servers import GATEWAY_BASE_URL, LOOPBACK, UpstreamServer
from gateway.run.options import PROJECT_DIR, Options
from gateway.run.output import Output
from gateway.run.ports import free_port, listen
from gateway.run.services import Service, services
from gateway.run.supervisor import Supervisor
from gateway.run.temporary import make_home
from tests.chaos.database import MAX_CONNECTIONS, Database
from tests.run.machine import workers_of
from tests.support.concurrency import eventually
from tests.support.forked import run

TICK_SECONDS = 0.05


class LogFile(Output):
    """Writes the output of the processes to a file."""

    def __init__(self, file: TextIO) -> None:
        super().__init__()
        self._file = file

    def _print(self, name: str, line: str) -> None:
        print(f"{name} | {line}", file=self._file, flush=True)


class Installation:
    """All processes, as a context manager. `gateways` are the addresses of the server processes by name."""

    max_connections = MAX_CONNECTIONS

    def __init__(self, processes: int, workers: int, furnish: Callable[[Path], None]) -> None:
        self.home = make_home("gateway-chaos-")
        furnish(self.home)
        self.database = Database(self.home, self.max_connections)
        self.upstream = UpstreamServer(self.home)
        ports = {f"gateway-{number}": free_port() for number in range(1, processes + 1)}
        self.gateways = {name: f"http://{LOOPBACK}:{port}" for name, port in ports.items()}
        self._ports = ports
        self._workers = workers
        # The kernel ends a child together with the thread that started it, so a permanent thread starts all of them.
        self._keeper = ThreadPoolExecutor(1, thread_name_prefix="keeper")
        self._watch: Future[None] | None = None
        self._is_stopping = False
        self._stack = ExitStack()

    def __enter__(self) -> Self:
        (self.home / "celery" / "messages").mkdir(parents=True)
        (self.home / "celery" / "control").mkdir()
        try:
            self._keeper.submit(self.database.start).result()
            self._stack.enter_context(self.upstream)
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *exc: object) -> None:
        self._is_stopping = True
        if self._watch:
            self._watch.exception()
            self._keeper.submit(self._supervisor.stop, lambda: True).exception()
        self._keeper.submit(self.database.stop).result()
        self._keeper.shutdown()
        self._stack.close()

    @property
    def log_path(self) -> Path:
        """Return the file with the output of the gateway's processes."""
        return self.home / "gateway.log"

    def open(self, configuration: Mapping[str, Any]) -> None:
        """Prepare the database, and start the servers and the jobs."""
        config = self.home / "gateway.yaml"
        config.write_text(yaml.safe_dump(dict(configuration), sort_keys=False))
        self._environment = self._settings(config)
        prepared = self.manage("prepare")
        if prepared.returncode:
            raise RuntimeError(f"preparing the database failed: {prepared.stdout}{prepared.stderr}")
        self._supervisor = Supervisor(self._services(), lambda message: None)
        self._supervisor.output = LogFile(self._stack.enter_context(self.log_path.open("w")))
        self._watch = self._keeper.submit(self._keep)

    def check(self) -> None:
        """Raise the exception that ended the supervision, if any."""
        if self._watch and self._watch.done():
            self._watch.result()

    def kill(self, name: str) -> None:
        """Kill the first process of a server, and wait until the supervisor has replaced it and ended its workers."""
        killed = self._supervisor.pids()[name]
        os.kill(killed, signal.SIGKILL)
        eventually(lambda: self._supervisor.pids().get(name, killed) != killed)

    def workers(self, name: str) -> list[int]:
        """Return the workers of one server: its only process if it has no others."""
        return sorted(workers_of(self._supervisor.pids()[name]))

    def manage(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run one of the gateway's commands on the run's database."""
        return run([sys.executable, "manage.py", *arguments], cwd=PROJECT_DIR, env=self._environment)

    def remove(self) -> None:
        """Delete the run's files."""
        shutil.rmtree(self.home, ignore_errors=True)

    def _keep(self) -> None:
        """Restart what ends, as a supervisor does, until the installation is closed."""
        while not self._is_stopping:
            self.database.mend()
            self._supervisor.tick(TICK_SECONDS)

    def _services(self) -> Sequence[Service]:
        """Define the gateway's servers, each on a socket that outlives it, and the jobs."""
        servers = [self._server(name, port) for name, port in self._ports.items()]
        jobs = Service("jobs", (sys.executable, "-m", "tests.chaos.jobs"), self._environment)
        return [*servers, jobs]

    def _server(self, name: str, port: int) -> Service:
        listeners = self._stack.enter_context(listen(LOOPBACK, port))
        options = Options.read({**self._environment, "PORT": str(port)})
        server, *_ = services(options, [one.fileno() for one in listeners], self._environment)
        return replace(server, name=name)

    def _settings(self, config: Path) -> dict[str, str]:
        return {
            **os.environ,
            "DJANGO_SETTINGS_MODULE": "gateway.settings",
            "GATEWAY_ENV": "production",
            "GATEWAY_BASE_URL": GATEWAY_BASE_URL,
            "ALLOWED_HOSTS": LOOPBACK,
            "GATEWAY_CONFIG": str(config),
            "DATABASE_URL": self.database.url,
            "DATA_DIR": str(self.home),
            "SECRET_KEY": secrets.token_urlsafe(48),
            "FIELD_ENCRYPTION_KEYS": Fernet.generate_key().decode(),
            "STREAM_CHECKPOINT_SECONDS": "1",
            "WEB_CONCURRENCY": str(self._workers),
        }
