"""A durable PostgreSQL of the run's own: crashed in every way, and started again at once by whoever watches it."""

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

MAX_CONNECTIONS = 60
SETTINGS = {"fsync": "on", "full_page_writes": "on", "max_connections": str(MAX_CONNECTIONS)}
SLOW_DISK = {"commit_delay": "5000", "commit_siblings": "0"}
"""Before each flush of its log the server waits for 5 ms, also where nobody else commits."""

Connection: TypeAlias = "psycopg.Connection[tuple[Any, ...]]"

OWN_NAME = "chaos"
BACKENDS = "SELECT pid FROM pg_stat_activity WHERE backend_type = 'client backend' AND application_name <> %s"
AWAY_SECONDS = 60.0
POLL_SECONDS = 0.02
COMMITS = 25


class Database:
    """The server's processes and its settings. Whoever starts and watches it calls `start` and `mend` from one thread."""

    def __init__(self, home: Path) -> None:
        self._cluster = Cluster(home, settings=SETTINGS)
        self.url = ""

    def start(self) -> None:
        """Start the server."""
        self.url = self._cluster.start()

    def mend(self) -> None:
        """Start the server again where it has ended; what its old processes left behind is cleared first."""
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
        """Open a connection, which may write whatever the server's settings say."""
        connection = psycopg.connect(self.url, autocommit=True, connect_timeout=5, application_name=OWN_NAME)
        connection.execute("SET default_transaction_read_only = off")
        return connection

    @staticmethod
    def backends(connection: Connection) -> list[int]:
        """List the processes that serve the gateway's connections."""
        return [pid for (pid,) in connection.execute(BACKENDS, [OWN_NAME])]

    def signal_all(self, number: signal.Signals) -> None:
        """Send a signal to every process of the server, the first one included."""
        first = psutil.Process(self.postmaster)
        for process in (first, *first.children(recursive=True)):
            try:
                process.send_signal(number)
            except psutil.NoSuchProcess:
                continue

    def kill(self, pid: int, number: signal.Signals) -> None:
        """Send a signal to one process of the server, and wait until the server has crashed and is back."""
        with self.connect() as witness:
            os.kill(pid, number)
            _await(lambda: _is_dead(witness), "the server did not notice")
        self.await_return()

    def await_return(self) -> None:
        """Wait until connections are taken again."""
        _await(self._answers, "the server did not come back")

    def set(self, values: dict[str, str]) -> None:
        """Change settings of the running server; an empty value gives the default back."""
        with self.connect() as connection:
            for name, value in values.items():
                what = f"SET {name} = '{value}'" if value else f"RESET {name}"
                connection.execute(f"ALTER SYSTEM {what}".encode())
            connection.execute("SELECT pg_reload_conf()")

    def commit_milliseconds(self) -> float:
        """Measure how long one commit takes, the median of some."""
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
    for _ in range(round(AWAY_SECONDS / POLL_SECONDS)):  # tries, not seconds: the machine itself may stand still
        if condition():
            return
        time.sleep(POLL_SECONDS)
    raise RuntimeError(complaint)
