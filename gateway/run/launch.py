"""Starts a gateway, keeps it running, and stops it: the sequence of `make run`."""

import os
import signal
import socket
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import reduce
from pathlib import Path
from types import FrameType
from typing import BinaryIO
from urllib.parse import urlsplit

from gateway.run.announcement import announce, ready
from gateway.run.children import spawn, stop
from gateway.run.database import SupervisedDatabase
from gateway.run.errors import StartError
from gateway.run.home import Home, occupy
from gateway.run.log_lines import event
from gateway.run.options import PROJECT_DIR, Options
from gateway.run.patience import Patience, Stopped
from gateway.run.payments import payment_settings
from gateway.run.ports import listen
from gateway.run.postgres import Cluster, settings_for
from gateway.run.probe import ANSWER_SECONDS, answers
from gateway.run.services import Service, metrics, payments, sandbox, services
from gateway.run.supervisor import Supervisor
from gateway.run.terminal import print_line

TICK_SECONDS = 0.1
READY_SECONDS = 120.0
GIVE_UP_SECONDS = 2.0
LOG_MAX_BYTES = 1024 * 1024
STOPPING = b"stopping ...\n"
STEP = "  "
"""How the lines begin in which `prepare` says what it does next."""
COMPLAINTS = ("CommandError: ", "gateway: ")


class Launch:
    """One run of the gateway, from its first check to the signal that ends it."""

    def __init__(self, options: Options) -> None:
        self._options = options
        self._signals = 0
        self._is_interrupted = False
        self._patience = Patience(announce, self._is_stopping)

    def run(self) -> None:
        """Run until SIGINT or SIGTERM. Raises StartError if the gateway cannot start or continue.

        No process is left running in any case.
        """
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, self._note)
        with (
            suppress(Stopped),
            self._listeners() as listeners,
            self._metrics_listeners() as metrics_listeners,
            occupy(self._options.data_dir, self._patience) as home,
            self._database() as cluster,
        ):
            addresses = self._addresses(cluster)
            environment = self._environment(home, addresses)
            home.record(addresses, {})
            self._prepare(environment)
            self._serve(Parts(home, cluster, listeners, metrics_listeners, environment, addresses))

    def _note(self, number: int, frame: FrameType | None) -> None:
        """Answer a signal to stop, and record it; a second one means at once."""
        if not self._signals:
            with suppress(OSError):  # written without a buffer, which the interrupted code may be using
                os.write(sys.stdout.fileno(), STOPPING)
            self._is_interrupted = number == signal.SIGINT
        self._signals += 1

    def _is_stopping(self) -> bool:
        return self._signals > 0

    def _is_urgent(self) -> bool:
        return self._signals > 1

    @contextmanager
    def _listeners(self) -> Iterator[list[socket.socket]]:
        """Listen on the port, if the server is to run."""
        if "server" not in self._options.parts:
            yield []
            return
        with listen(self._options.host, self._options.port) as listeners:
            yield listeners

    @contextmanager
    def _metrics_listeners(self) -> Iterator[list[socket.socket]]:
        """Listen at METRICS_ADDRESS, whichever parts are to run: each machine has metrics of its own."""
        if self._options.metrics_address is None:
            yield []
            return
        with listen(*self._options.metrics_address, setting="METRICS_ADDRESS") as listeners:
            yield listeners

    @contextmanager
    def _database(self) -> Iterator[Cluster | None]:
        """Run the embedded PostgreSQL, unless DATABASE_URL names another database."""
        if self._options.database_url:
            yield None
            return
        settings = settings_for(self._options.workers)
        cluster = Cluster(self._options.data_dir, settings=settings, patience=self._patience)
        self._patience.tell("starting the database ...")
        try:
            cluster.start()
            yield cluster
        finally:
            cluster.stop()

    def _addresses(self, cluster: Cluster | None) -> dict[str, str]:
        """Return the addresses that other shells look up."""
        url = cluster.url if cluster else self._options.database_url
        assert url is not None
        return {"DATABASE_URL": url, "GATEWAY_BASE_URL": self._options.base_url}

    def _environment(self, home: Home, addresses: Mapping[str, str]) -> dict[str, str]:
        """Return the environment of all processes: our own, completed with defaults."""
        given = {name: value for name, value in os.environ.items() if value}
        secrets = {} if self._options.is_production else home.secrets()
        config = {"GATEWAY_CONFIG": str(self._options.config or "")}
        places = {"HOST": self._options.host, "PORT": str(self._options.port), "DATA_DIR": str(home.path)}
        defaults = {"DJANGO_SETTINGS_MODULE": "gateway.settings", "PYTHONUNBUFFERED": "1", **secrets}
        if self._options.payments:
            defaults |= payment_settings(self._options.data_dir)
        return {**defaults, **given, **places, **config, **addresses}

    def _prepare(self, environment: Mapping[str, str]) -> None:
        """Migrate the database and apply the configuration; print what changed."""
        self._patience.tell("preparing the database (migrations, configuration) ...")
        log_path = self._options.data_dir / "prepare.log"
        with log_path.open("w+b") as log:
            command = [sys.executable, "manage.py", "prepare", "--steps"]
            child = spawn(command, environment=environment, directory=PROJECT_DIR, output=log)
            try:
                while child.poll() is None:
                    self._patience.check(_last_step(_read(log)))
                    time.sleep(0.02)
            finally:
                stop(child, signal.SIGTERM, GIVE_UP_SECONDS)
            text = "\n".join(line for line in _read(log).splitlines() if not line.startswith(STEP)).strip()
        if child.returncode:
            raise StartError(_failure_text(text, log_path))
        if text:
            announce(text)

    def _serve(self, parts: "Parts") -> None:
        """Run the services until a signal, the server first; print `ready` once the gateway's health check succeeds."""
        wanted = services(self._options, [one.fileno() for one in parts.listeners], parts.environment)
        servers = [service for service in wanted if service.name == "server"]
        supervisor = Supervisor(servers, say, self._options.stop_seconds)
        if servers:
            self._patience.tell("starting the server ...")
        try:
            self._watch(parts, supervisor, time.monotonic() + READY_SECONDS, until_ready=True)
            if not self._is_stopping():
                # Not sooner, because they would compete with the server's start for the processors.
                supervisor.add([service for service in wanted if service not in servers])
                supervisor.add(parts.metrics())
                self._add_sandbox(parts, supervisor)
                supervisor.add(self._payments(parts))
                supervisor.tick(0)
                parts.record(supervisor)
                announce(ready(self._options, parts.environment))
            self._watch(parts, supervisor, float("inf"), until_ready=False)
        finally:
            if not self._is_stopping():
                announce(STOPPING.decode().strip())
            # No new connection may wait for a server that is stopping.
            for listener in (*parts.listeners, *parts.metrics_listeners):
                listener.close()
            supervisor.stop(self._is_urgent, is_interrupted=self._is_interrupted)
            parts.home.record(parts.addresses, {})

    def _watch(self, parts: "Parts", supervisor: Supervisor, deadline: float, *, until_ready: bool) -> None:
        """Restart services that end, until a signal arrives or, with `until_ready`, the gateway responds."""
        while not self._is_stopping():
            if supervisor.tick(TICK_SECONDS):
                parts.record(supervisor)
            if parts.database:
                parts.database.tick()
            if not until_ready:
                self._add_sandbox(parts, supervisor)
            if until_ready and ("server" not in self._options.parts or answers(self._options)):
                return
            if until_ready:
                self._patience.check("starting the server", ANSWER_SECONDS)
            if time.monotonic() > deadline:
                raise StartError(f"The server was not ready within {READY_SECONDS:.0f} s.")

    def _payments(self, parts: "Parts") -> list[Service]:
        """Return the stand-in of a payment provider, if it is wanted."""
        if not self._options.payments:
            return []
        port = urlsplit(parts.environment["STRIPE_API_BASE"]).port
        assert port is not None
        return [payments(port, self._options.data_dir / "payments.json", self._options, parts.environment)]

    def _add_sandbox(self, parts: "Parts", supervisor: Supervisor) -> None:
        if "sandbox" in self._options.parts:
            parts.add_sandbox(supervisor)


class Parts:
    """The parts of a running gateway other than its services."""

    def __init__(
        self,
        home: Home,
        cluster: Cluster | None,
        listeners: Sequence[socket.socket],
        metrics_listeners: Sequence[socket.socket],
        environment: Mapping[str, str],
        addresses: Mapping[str, str],
    ) -> None:
        self.home = home
        self.listeners = listeners
        self.metrics_listeners = metrics_listeners
        self.environment = environment
        self.addresses = addresses
        self.database = SupervisedDatabase(cluster, say) if cluster else None
        self._has_sandbox = False

    def metrics(self) -> list[Service]:
        """Return the process that serves the metrics, if they are wanted."""
        return (
            [metrics([one.fileno() for one in self.metrics_listeners], self.environment)]
            if self.metrics_listeners
            else []
        )

    def add_sandbox(self, supervisor: Supervisor) -> None:
        """Start the worker for sandbox runs once the configuration needs it."""
        if not self._has_sandbox and self.home.wants_sandbox():
            supervisor.add([sandbox(self.environment)])
            self._has_sandbox = True

    def record(self, supervisor: Supervisor) -> None:
        """Record which processes run."""
        self.home.record(self.addresses, supervisor.pids())


def say(message: str) -> None:
    """Print an event to the terminal, or with LOG_FORMAT=json as an object."""
    print_line(event(message), sys.stderr)


def _read(log: BinaryIO) -> str:
    """Return what a child has written to its log so far. It goes on writing at the end, whose place it shares."""
    return os.pread(log.fileno(), LOG_MAX_BYTES, 0).decode(errors="replace")


def _last_step(text: str) -> str:
    """Return what `prepare` does now."""
    steps = [line.strip() for line in text.splitlines() if line.startswith(STEP)]
    return steps[-1] if steps else "preparing the database"


def _failure_text(text: str, log_path: Path) -> str:
    """Return the lines of a failed command's output that explain the failure, and for a crash the path of the log."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    begins = next((number for number, line in enumerate(lines) if line.startswith(COMPLAINTS)), None)
    if begins is not None:
        return reduce(str.removeprefix, COMPLAINTS, "\n".join(lines[begins:]))
    return f"Preparing the database failed: {lines[-1] if lines else 'no message, is the disk full?'} (see {log_path})"
