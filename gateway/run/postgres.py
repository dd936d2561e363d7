"""An embedded PostgreSQL: one server in the foreground, supervised here, on 127.0.0.1 only."""

import os
import re
import signal
import subprocess
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import quote

import psycopg
from psycopg import sql

from gateway.run.binaries import Binaries, find
from gateway.run.children import spawn, stop
from gateway.run.datadir import SUPERUSER, DataDirectory
from gateway.run.errors import DatabaseEnded, StartError
from gateway.run.files import read_or_create_secret, read_text, write_private
from gateway.run.identity import database_identity
from gateway.run.patience import Patience
from gateway.run.placement import place_binaries, place_data
from gateway.run.ports import free_port, is_free

HOST = "127.0.0.1"
DATABASE = "gateway"
START_SECONDS = 60.0
STOP_SECONDS = 30.0
ATTEMPTS = 5
LOG_BYTES_MAX = 10 * 1024 * 1024

SETTINGS: Mapping[str, str] = {
    "listen_addresses": HOST,
    "unix_socket_directories": "",
    "max_connections": "100",
    "shared_buffers": "128MB",
    "synchronous_commit": "on",
    "wal_level": "replica",
    "max_wal_senders": "0",
    "min_wal_size": "128MB",
    "max_wal_size": "1GB",
    "checkpoint_timeout": "15min",
    "random_page_cost": "1.1",
    "jit": "off",
    "timezone": "UTC",
    "log_timezone": "UTC",
    "log_min_messages": "warning",
    "log_min_error_statement": "panic",
    "password_encryption": "scram-sha-256",
}
WORKER_CONNECTIONS = 20
"""More than a server process opens (SYNC_POOL_MAX_CONNECTIONS, LEDGER_POOL_MAX_CONNECTIONS and one)."""
OTHER_CONNECTIONS = 80
"""For jobs, commands and operators."""

# For tests, whose data need not survive a crash of the machine.
FAST_SETTINGS: Mapping[str, str] = {"fsync": "off", "full_page_writes": "off", "max_connections": "200"}


@dataclass(slots=True)
class Cluster:
    """The database in the data directory `home`. The caller holds the directory's lock, so it is not shared."""

    home: Path
    durable: bool = True
    settings: Mapping[str, str] = field(default_factory=dict)
    patience: Patience = field(default_factory=Patience)
    process: subprocess.Popen[bytes] | None = None

    @property
    def log_path(self) -> Path:
        """Return the file that the server writes its messages to."""
        return self.home / "postgres.log"

    def start(self) -> str:
        """Start the server, create data and database if necessary, and return the database's URL.

        Raises StartError in one line, DatabaseEnded if another try may help, and Stopped; no server is left running then.
        """
        data, binaries = self._prepare()
        try:
            self._launch(data, binaries)
            self._create_database()
        except BaseException:
            self.stop()
            raise
        return self.url

    @property
    def url(self) -> str:
        """Return the database's URL, which is known once the server has started."""
        url = database_url(self.home)
        assert url is not None
        return url

    def has_ended(self) -> bool:
        """Return whether the server was started and has stopped by itself since."""
        return self.exit_code() is not None

    def exit_code(self) -> int | None:
        """Return how a server that has ended did so (negative: by a signal), or None if there is none or it runs."""
        return None if self.process is None else self.process.poll()

    def stop(self) -> None:
        """Stop the server without losing committed data, and wait for it (a "fast shutdown": SIGINT)."""
        if self.process is not None:
            stop(self.process, signal.SIGINT, STOP_SECONDS)
            self.process = None

    def _prepare(self) -> tuple[DataDirectory, Binaries]:
        """Return the data directory, ready to be served, and the programs to serve it with."""
        identity = database_identity()
        data = DataDirectory(place_data(self.home / "postgres", identity), identity)
        binaries = place_binaries(find(data.major, os.environ), identity)
        password = read_text(_password_path(self.home))
        if data.major is None:
            password = password or read_or_create_secret(_password_path(self.home))
            data.create(binaries, password, self.patience, durable=self.durable)
        elif not password:
            raise StartError(f"The database's password file is missing: restore {_password_path(self.home)}.")
        data.clear_orphan()
        return data, binaries

    def _launch(self, data: DataDirectory, binaries: Binaries) -> None:
        """Start the server on its previous port, or on another if that is taken by now."""
        for attempt in range(ATTEMPTS):
            port = self._choose_port()
            mark = self._open_log_mark()
            with self.log_path.open("ab") as log:
                self.process = spawn(
                    [binaries.program("postgres"), "-D", str(data.path), *self._options(port)],
                    environment=data.environment(os.environ),
                    output=log,
                    identity=data.identity,
                    death_signal=signal.SIGINT,
                )
            if self._wait_until_ready(data):
                return
            failure = self._failure(mark)
            if attempt == ATTEMPTS - 1 or not _may_pass(failure):
                raise DatabaseEnded(f"PostgreSQL did not start: {failure} (see {self.log_path})", self.process.wait())
            time.sleep(0.2 * 2**attempt)

    def _choose_port(self) -> int:
        """Return the previous port while it is free, otherwise a new one, which is stored."""
        remembered = read_text(_port_path(self.home))
        if remembered and is_free(HOST, int(remembered)):
            return int(remembered)
        port = free_port(HOST)
        write_private(_port_path(self.home), str(port))
        return port

    def _options(self, port: int) -> list[str]:
        """Return the server's settings as arguments, so that the data directory contains none of its own."""
        chosen = {**SETTINGS, **({} if self.durable else FAST_SETTINGS), **self.settings, "port": str(port)}
        return [part for name, value in chosen.items() for part in ("-c", f"{name}={value}")]

    def _wait_until_ready(self, data: DataDirectory) -> bool:
        """Wait until the server's lock file says that it accepts connections; return False if it ended instead."""
        assert self.process is not None
        deadline = time.monotonic() + START_SECONDS
        self.patience.begin()
        while self.process.poll() is None:
            if _is_ready(data.path / "postmaster.pid", self.process.pid):
                return True
            if time.monotonic() > deadline:
                raise DatabaseEnded(
                    f"PostgreSQL took more than {START_SECONDS:.0f} s to start (see {self.log_path})", 1
                )
            self.patience.check("starting the database")
            time.sleep(0.02)
        return False

    def _create_database(self) -> None:
        """Create the gateway's database in a new cluster."""
        assert self.process is not None
        try:
            with psycopg.connect(self.url, dbname="postgres", autocommit=True) as connection:
                row = connection.execute("SELECT 1 FROM pg_database WHERE datname = %s", (DATABASE,)).fetchone()
                if row is None:
                    connection.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(DATABASE)))
        except psycopg.OperationalError as error:
            reason = str(error).strip().partition("\n")[0]
            raise DatabaseEnded(f"PostgreSQL did not stay up: {reason}", self.process.poll() or 1) from error

    def _open_log_mark(self) -> int:
        """Return the log's length, after truncating the log if it has grown long."""
        size = self.log_path.stat().st_size if self.log_path.exists() else 0
        if size > LOG_BYTES_MAX:
            self.log_path.replace(self.log_path.with_suffix(".log.1"))
            return 0
        return size

    def _failure(self, mark: int) -> str:
        """Return the server's last message in the log after position `mark`."""
        with self.log_path.open("rb") as log:
            log.seek(mark)
            text = log.read().decode(errors="replace")
        fatal = re.findall(r"(?:FATAL|PANIC):\s*(.+)", text)
        return fatal[0] if fatal else (text.strip().splitlines() or ["no message"])[-1]


def settings_for(workers: int) -> dict[str, str]:
    """Return the settings of a database that serves this many server processes."""
    return {"max_connections": str(OTHER_CONNECTIONS + WORKER_CONNECTIONS * workers)}


def database_url(home: Path) -> str | None:
    """Return the URL of the database in the data directory `home`, or None if there is none yet."""
    password, port = read_text(_password_path(home)), read_text(_port_path(home))
    if not password or not port:
        return None
    return f"postgresql://{SUPERUSER}:{quote(password, safe='')}@{HOST}:{port}/{DATABASE}"


def _is_ready(lock: Path, pid: int) -> bool:
    """Return whether the lock file belongs to `pid` and its status line (the eighth) says ready, as `pg_ctl` reads
    it."""
    lines = (read_text(lock) or "").splitlines()
    return len(lines) >= 8 and lines[0].strip() == str(pid) and lines[7].strip() == "ready"


def _may_pass(failure: str) -> bool:
    """Return whether retrying a failed start may help: the port was taken, or old backends are still ending."""
    return "could not create any TCP/IP sockets" in failure or "pre-existing shared memory" in failure


def _password_path(home: Path) -> Path:
    return home / "postgres.password"


def _port_path(home: Path) -> Path:
    return home / "postgres.port"
