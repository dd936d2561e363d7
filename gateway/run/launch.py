"""Brings one gateway up, keeps it up, and takes it down: the story of `make run`."""

import http.client
import os
import signal
import socket
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from urllib.parse import urlsplit

from gateway.run.children import spawn, stop
from gateway.run.errors import StartError
from gateway.run.home import Home, occupy
from gateway.run.options import PROJECT_DIR, Options
from gateway.run.postgres import Cluster
from gateway.run.services import services
from gateway.run.supervisor import Supervisor

BACKLOG = 2048
TICK_SECONDS = 0.1
READY_SECONDS = 120.0
PROBE_SECONDS = 2.0
COMPLAINT = "CommandError: "


class Launch:
    """One run of the gateway, from `start` to the signal that ends it."""

    def __init__(self, options: Options) -> None:
        self._options = options
        self._signals = 0

    def run(self) -> None:
        """Run until SIGINT or SIGTERM. Raises StartError when the gateway cannot start or not go on.

        Whatever happens, nothing is left running.
        """
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, self._note)
        with listen(self._options) as listener, occupy(self._options.data_dir) as home, self._database() as cluster:
            url = cluster.url if cluster else self._options.database_url
            assert url is not None
            addresses = {"DATABASE_URL": url, "GATEWAY_BASE_URL": self._options.base_url}
            environment = self._environment(home, addresses)
            home.record(addresses, {})
            if not self._is_stopping():
                self._prepare(environment)
            if not self._is_stopping():
                self._serve(home, cluster, listener, environment, addresses)

    def _note(self, number: int, frame: FrameType | None) -> None:
        """Remember that somebody wants us to end; a second signal means at once."""
        self._signals += 1

    def _is_stopping(self) -> bool:
        return self._signals > 0

    def _is_urgent(self) -> bool:
        return self._signals > 1

    @contextmanager
    def _database(self) -> Iterator[Cluster | None]:
        """Run the embedded PostgreSQL, unless DATABASE_URL names another."""
        if self._options.database_url:
            yield None
            return
        cluster = Cluster(self._options.data_dir)
        try:
            cluster.start()
            yield cluster
        finally:
            cluster.stop()

    def _environment(self, home: Home, addresses: Mapping[str, str]) -> dict[str, str]:
        """Return what every process of this gateway sees: what we were given, and what was missing from it."""
        given = {name: value for name, value in os.environ.items() if value}
        secrets = {} if self._options.is_production else home.secrets()
        config = {"GATEWAY_CONFIG": str(self._options.config or "")}
        places = {"HOST": self._options.host, "PORT": str(self._options.port), "DATA_DIR": str(home.path)}
        defaults = {"DJANGO_SETTINGS_MODULE": "gateway.settings", "PYTHONUNBUFFERED": "1", **secrets}
        return {**defaults, **given, **places, **config, **addresses}

    def _prepare(self, environment: Mapping[str, str]) -> None:
        """Bring the database's tables up to date and apply the configuration; say what is new."""
        log_path = self._options.data_dir / "prepare.log"
        with log_path.open("w+b") as log:
            command = [sys.executable, "manage.py", "prepare"]
            child = spawn(command, environment=environment, directory=PROJECT_DIR, output=log)
            while child.poll() is None and not self._is_stopping():
                time.sleep(0.02)
            stop(child, signal.SIGTERM, PROBE_SECONDS)
            log.seek(0)
            text = log.read().decode(errors="replace").strip()
        if self._is_stopping():
            return
        if child.returncode:
            raise StartError(_first_complaint(text, log_path))
        if text:
            print(text, flush=True)

    def _serve(
        self,
        home: Home,
        cluster: Cluster | None,
        listener: socket.socket,
        environment: Mapping[str, str],
        addresses: Mapping[str, str],
    ) -> None:
        """Run the services until a signal; say `ready` once the gateway answers that it is."""
        server, *helpers = services(self._options, listener.fileno(), environment)
        supervisor = Supervisor([server], say)
        deadline = time.monotonic() + READY_SECONDS
        is_ready = False
        try:
            while not self._is_stopping():
                if supervisor.tick(TICK_SECONDS):
                    home.record(addresses, supervisor.pids())
                if cluster and cluster.has_ended():
                    _restart(cluster)
                if not is_ready and self._answers():
                    is_ready = True
                    # Not sooner, because all of them would share the processors while somebody waits.
                    supervisor.add(helpers)
                    supervisor.tick(0)
                    home.record(addresses, supervisor.pids())
                    print(f"ready: {self._options.base_url}", flush=True)
                if not is_ready and time.monotonic() > deadline:
                    raise StartError(f"The server did not get ready in {READY_SECONDS:.0f} s.")
        finally:
            # No new connection may wait for a server that will not come.
            listener.close()
            supervisor.stop(self._is_urgent)
            home.record(addresses, {})

    def _answers(self) -> bool:
        """Tell whether GET /healthz answers 200, straight from the server, whatever proxy the base URL names."""
        connection = http.client.HTTPConnection(self._options.probe_host, self._options.port, timeout=PROBE_SECONDS)
        try:
            connection.request("GET", "/healthz", headers={"Host": urlsplit(self._options.base_url).netloc})
            return connection.getresponse().status == http.HTTPStatus.OK
        except (OSError, http.client.HTTPException):
            return False
        finally:
            connection.close()


@contextmanager
def listen(options: Options) -> Iterator[socket.socket]:
    """Take the port for as long as the gateway runs. Raises StartError when somebody else has it."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            options.host, options.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        listener = socket.socket(family, kind, protocol)
    except OSError as error:
        raise StartError(f"HOST={options.host} is no address of this machine: {error.strerror}.") from error
    with listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        # Accepted connections inherit it; uvicorn cannot set it on a socket that it was given by number, and an
        # answer's body would wait 40 ms for the acknowledgement of its headers.
        listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        try:
            listener.bind(address)
            listener.listen(BACKLOG)
        except OSError as error:
            where = f"{options.host}:{options.port}"
            raise StartError(f"Cannot listen on {where}: {error.strerror}; set another PORT or HOST.") from error
        yield listener


def say(message: str) -> None:
    """Tell the person at the terminal what happened."""
    print(f"gateway: {message}", file=sys.stderr, flush=True)


def _restart(cluster: Cluster) -> None:
    """Start a database again that ended; its port must stay, because every process knows it."""
    before = cluster.url
    say("the database ended; starting it again")
    if cluster.start() != before:
        raise StartError("The database's port was taken by another process; start again.")


def _first_complaint(text: str, log_path: Path) -> str:
    """Return the line of a failed command's output that says what is wrong; a crash is told with its whereabouts."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    complaints = [line.removeprefix(COMPLAINT) for line in lines if line.startswith(COMPLAINT)]
    return complaints[0] if complaints else f"Preparing the database failed: {''.join(lines[-1:])} (see {log_path})"
