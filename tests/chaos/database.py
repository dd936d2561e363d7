"""A durable PostgreSQL for the run: crashed in various ways, and restarted at once by its supervisor."""

import os
import signal
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import psutil
import psycopg

from gateway.run.postgres import Cluster

MAX_CONNECTIONS = 100
SETTINGS = {"fsync": "on", "full_page_writes": "on"}
SLOW_DISK = {"commit_delay": "5000", "commit_siblings": "0"}
"""The server waits for 5 ms before each flush of its log, even for a single commit."""

Connection: TypeAlias = "psycopg.Connection[tuple[Any, ...]]"

OWN_NAME = "chaos"
BACKENDS = "SELECT pid FROM pg_stat_activity WHERE backend_type = 'client backend' AND application_name <> %s"
AWAY_SECONDS = 60.0
POLL_SECONDS = 0.02
COMMITS = 25


class Database:
    """The server's processes and its settings. `start` and `mend` must be called from the same thread."""

    def __init__(self, home: Path, max_connections: int = MAX_CONNECTIONS) -> None:
        self._cluster = Cluster(home, settings={**SETTINGS, "max_connections": str(max_connections)})
        self.url = ""

    def start(self) -> None:
        """Start the server."""
        self.url = self._cluster.start()

    def mend(self) -> None:
        """Restart the server if it has ended, after cleaning up its old processes."""
        if self._cluster.has_ended():
            assert self._cluster.start() == self.url, "the database came back at another address"

    def stop(self) -> None:
        """Stop the server."""
        self._cluster.stop()

    @property
    def postmaster(self) -> int:
        """Return the process id of the server's first process."""
        assert self._cluster.process is not None
        return self._cluster.process.pid

    def connect(self) -> Connection:
        """Open a connection that may write whatever the server's settings."""
        connection = psycopg.connect(self.url, autocommit=True, connect_timeout=5, application_name=OWN_NAME)
        connection.execute("SET default_transaction_read_only = off")
        return connection

    @staticmethod
    def backends(connection: Connection) -> list[int]:
        """List the process ids of the gateway's connections."""
        return [pid for (pid,) in connection.execute(BACKENDS, [OWN_NAME])]

    def signal_all(self, number: signal.Signals) -> None:
        """Send a signal to every process of the server, including the first."""
        first = psutil.Process(self.postmaster)
        for process in (first, *first.children(recursive=True)):
            try:
                process.send_signal(number)
            except psutil.NoSuchProcess:
                continue

    def kill(self, pid: int, number: signal.Signals) -> None:
        """Send a signal to one process of the server, and wait until the server has crashed and restarted."""
        with self.connect() as witness:
            os.kill(pid, number)
            _await(lambda: _is_dead(witness), "the server did not notice")
        self.await_return()

    def await_return(self) -> None:
        """Wait until connections are accepted again."""
        _await(self._answers, "the server did not come back")

    def set(self, values: dict[str, str]) -> None:
        """Change settings of the running server; an empty value restores the default."""
        with self.connect() as connection:
            for name, value in values.items():
                what = f"SET {name} = '{value}'" if value else f"RESET {name}"
                connection.execute(f"ALTER SYSTEM {what}".encode())
            connection.execute("SELECT pg_reload_conf()")

    def commit_milliseconds(self) -> float:
        """Measure the median duration of several commits."""
        with self.connect() as connection:
            taken = [_time_of_commit(connection) for _ in range(COMMITS)]
        return statistics.median(taken) * 1000

    def _answers(self) -> bool:
        try:
            with self.connect() as connection:
                return connection.execute("SELECT 1").fetchone() == (1,)
        except psycopg.OperationalError:
            return False


def _is_dead(witness: Connection) -> bool:
    try:
        witness.execute("SELECT 1")
    except psycopg.OperationalError:
        return True
    return False


def _time_of_commit(connection: Connection) -> float:
    started = time.perf_counter()
    connection.execute("SELECT pg_logical_emit_message(true, 'chaos', '')")
    return time.perf_counter() - started


def _await(condition: Callable[[], bool], complaint: str) -> None:
    for _ in range(round(AWAY_SECONDS / POLL_SECONDS)):  # attempts, not seconds, because the machine itself may pause
        if condition():
            return
        time.sleep(POLL_SECONDS)
    raise RuntimeError(complaint)
