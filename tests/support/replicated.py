"""A primary and an asynchronous standby, both with a copy of the test's database. Either can be killed, the standby promoted."""

import os
import signal
import subprocess
from pathlib import Path
from typing import Any, Self

import psycopg
from django.db import connection

from gateway.run.binaries import find
from gateway.run.children import spawn
from gateway.run.identity import database_identity
from gateway.run.placement import place_binaries
from gateway.run.ports import free_port
from gateway.run.postgres import DATABASE, SETTINGS, Cluster
from tests.support.concurrency import eventually
from tests.support.database import database_url, make_home

REPLICATION = {"max_wal_senders": "4", "hot_standby": "on", "fsync": "off"}
FORGET_HISTORY = "UPDATE accounts_replay_epoch SET history = NULL, began_at = NULL, lost_until = NULL, origin = NULL"


class Replicated:
    """Two servers, as a context manager. `primary` and `standby` are the ports that they have at first."""

    def __init__(self) -> None:
        self._identity = database_identity()
        self._binaries = place_binaries(find(None, os.environ), self._identity)
        self._cluster = Cluster(make_home(), settings=REPLICATION)
        self._servers: dict[int, tuple[Path, subprocess.Popen[bytes]]] = {}

    @property
    def url(self) -> str:
        """Return the address of whichever server is the primary."""
        user = self._one.rpartition("@")[0]
        hosts = f"127.0.0.1:{self.primary},127.0.0.1:{self.standby}"
        return f"{user}@{hosts}/{DATABASE}?target_session_attrs=read-write"

    @property
    def password(self) -> str:
        """Return the password of the servers' owner."""
        return str(psycopg.conninfo.conninfo_to_dict(self._one)["password"])

    def __enter__(self) -> Self:
        self._one = self._cluster.start()
        try:
            self._fill()
            self.primary = int(psycopg.conninfo.conninfo_to_dict(self._one)["port"] or 0)
            assert self._cluster.process is not None
            self._servers[self.primary] = ((self._cluster.home / "postgres").resolve(), self._cluster.process)
            self.standby = free_port()
            self._copy(self.standby)
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *exc: object) -> None:
        for port in list(self._servers):
            self.kill(port)
        self._cluster.stop()

    def execute(self, port: int, statement: str, *parameters: object) -> list[tuple[Any, ...]]:
        """Run one statement on one server."""
        with psycopg.connect(self._one, port=port, autocommit=True) as database:
            cursor = database.execute(statement.encode(), parameters or None)
            return cursor.fetchall() if cursor.description else []

    def catch_up(self) -> None:
        """Wait until the standby has everything."""
        [(end,)] = self.execute(self.primary, "SELECT pg_current_wal_lsn()::text")
        reached = "SELECT pg_last_wal_replay_lsn() >= %s::pg_lsn"
        eventually(lambda: self.execute(self.standby, reached, end)[0][0], seconds=60)

    def disconnect(self) -> None:
        """Stop the replication: what is committed from now on does not reach the standby."""
        self.execute(self.standby, "ALTER SYSTEM SET primary_conninfo = ''")
        self.execute(self.standby, "SELECT pg_reload_conf()")
        eventually(lambda: not self.execute(self.primary, "SELECT 1 FROM pg_stat_replication"), seconds=60)

    def promote(self) -> None:
        """Make the standby a primary."""
        assert self.execute(self.standby, "SELECT pg_promote()") == [(True,)]

    def follow(self) -> None:
        """Put a new standby in place of the former primary, and name them as what they are now."""
        if self.primary in self._servers:
            self.kill(self.primary)
        self.primary, self.standby = self.standby, self.primary
        self._copy(self.standby)

    def set(self, port: int, name: str, value: str) -> None:
        """Change a setting of one server, and wait until it has it."""
        with psycopg.connect(self._one, port=port, autocommit=True) as database:
            database.execute("SET default_transaction_read_only = off")
            database.execute(f"ALTER SYSTEM SET {name} = '{value}'".encode())
            database.execute("SELECT pg_reload_conf()")
        shown = "SELECT setting FROM pg_settings WHERE name = %s"
        eventually(lambda: self.execute(port, shown, name) == [(value,)], seconds=60)

    def kill(self, port: int) -> None:
        """Stop one server at once."""
        _, process = self._servers.pop(port)
        process.send_signal(signal.SIGQUIT)
        process.wait(60)

    def start(self, port: int, directory: Path) -> None:
        """Start one server on its directory."""
        settings = {**SETTINGS, **REPLICATION, "port": str(port)}
        options = [part for name, value in settings.items() for part in ("-c", f"{name}={value}")]
        command = [self._binaries.program("postgres"), "-D", str(directory), *options]
        process = spawn(command, environment=_environment(), output=subprocess.DEVNULL, identity=self._identity)
        self._servers[port] = directory, process
        eventually(lambda: self._answers(port), seconds=60)

    def run(self, program: str, *arguments: str, text: str | None = None) -> str:
        """Run one of PostgreSQL's programs as the servers' user, and return its output."""
        done = subprocess.run(
            [self._binaries.program(program), *arguments],
            input=text,
            capture_output=True,
            text=True,
            cwd="/",
            env=_environment(),
            timeout=120,
            **(self._identity.spawn_arguments() if self._identity else {}),
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    def directory(self, port: int) -> Path:
        """Return the directory of a server that runs."""
        return self._servers[port][0]

    def _answers(self, port: int) -> bool:
        try:
            return bool(self.execute(port, "SELECT 1"))
        except psycopg.OperationalError:
            return False

    def _fill(self) -> None:
        dumped = self.run("pg_dump", "--no-owner", database_url(connection.settings_dict["PORT"]))
        self.run("psql", "--quiet", "--set", "ON_ERROR_STOP=1", self._one, text=dumped)
        with psycopg.connect(self._one) as database:
            database.execute(FORGET_HISTORY)

    def _copy(self, port: int) -> None:
        """Start a standby of the primary."""
        home = make_home()
        home.chmod(0o777)  # of a test's own; the servers run as another user
        target, source = home / "data", psycopg.conninfo.make_conninfo(self._one, port=self.primary)
        self.run("pg_basebackup", "-D", str(target), "-R", "-X", "stream", "--checkpoint=fast", "-d", source)
        self.start(port, target)


def _environment() -> dict[str, str]:
    return {"PATH": os.environ.get("PATH", os.defpath), "LC_ALL": "C", "TZ": "UTC"}
