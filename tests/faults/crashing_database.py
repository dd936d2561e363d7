"""A test's own PostgreSQL server that can crash, hang, refuse writes and run out of connections."""

import os
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import psycopg

from gateway.run.postgres import Cluster
from tests.support.concurrency import eventually
from tests.support.database import make_home
from tests.support.migrated import copy_cluster

OTHERS = "SELECT pid FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()"


class CrashingDatabase:
    """A server with durable storage, so that what it acknowledged survives its crashes."""

    def __init__(self, **settings: str) -> None:
        home = make_home()
        copy_cluster(home)
        self._cluster = Cluster(home, settings=settings)
        self.url = self._cluster.start()

    def stop(self) -> None:
        """Stop the server permanently."""
        self._cluster.stop()

    @property
    def postmaster(self) -> int:
        """Return the id of the server's parent process."""
        assert self._cluster.process is not None
        return self._cluster.process.pid

    def execute(self, statement: str) -> list[tuple[object, ...]]:
        """Run one statement as an operator would, and return its rows."""
        with psycopg.connect(self.url, autocommit=True) as connection:
            cursor = connection.execute(statement)
            return cursor.fetchall() if cursor.description else []

    def kill_a_backend(self) -> None:
        """Kill a backend, as the kernel's OOM killer does. The server ends all other backends and recovers."""
        with psycopg.connect(self.url, autocommit=True) as witness:
            [pid, *_] = [int(str(row[0])) for row in witness.execute(OTHERS)]
            os.kill(pid, signal.SIGKILL)
            eventually(lambda: _is_ended(witness))  # until then the server has not noticed, and serves as before
        until(lambda: self.execute("SELECT 1"))

    def crash(self, away_seconds: float) -> None:
        """Stop the server immediately, and restart it after a while."""
        server = self._cluster.process
        assert server is not None
        os.kill(server.pid, signal.SIGQUIT)
        server.wait(30)
        time.sleep(away_seconds)
        self._cluster.process = None
        self._cluster.start()

    @contextmanager
    def hanging(self) -> Iterator[None]:
        """Suspend all processes of the server. Its connections and its port stay open."""
        stopped = [self.postmaster]
        os.kill(self.postmaster, signal.SIGSTOP)
        try:
            for pid in _children(self.postmaster):
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGSTOP)
                    stopped.append(pid)
            yield
        finally:
            for pid in stopped:
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGCONT)

    @contextmanager
    def read_only(self) -> Iterator[None]:
        """Refuse writes, as a standby does."""
        self._alter("SET default_transaction_read_only = on")
        try:
            yield
        finally:
            self._alter("RESET default_transaction_read_only")

    @contextmanager
    def full(self) -> Iterator[None]:
        """Occupy all connections, including the gateway's."""
        taken: list[psycopg.Connection[tuple[object, ...]]] = []
        try:
            self._take_all(taken)
            while self._end_others(taken):  # the gateway's, and those that it has opened meanwhile
                self._take_all(taken)
            yield
        finally:
            for connection in taken:
                connection.close()

    def _end_others(self, taken: list[psycopg.Connection[tuple[object, ...]]]) -> bool:
        """End all other connections, and wait until they have ended; return whether there were any."""
        ended = taken[0].execute(
            f"SELECT pg_terminate_backend(pid, 60000) FROM ({OTHERS}) AS others WHERE pid <> ALL (%s)",
            [[connection.info.backend_pid for connection in taken]],
        )
        return bool(ended.fetchall())

    def _take_all(self, taken: list[psycopg.Connection[tuple[object, ...]]]) -> None:
        refused_until = time.monotonic() + 0.4
        while time.monotonic() < refused_until:
            try:
                taken.append(psycopg.connect(self.url, autocommit=True))
            except psycopg.OperationalError:
                time.sleep(0.02)
            else:
                refused_until = time.monotonic() + 0.4

    def _alter(self, change: str) -> None:
        [(loaded,)] = self.execute("SELECT pg_conf_load_time()::text")
        self.execute(f"ALTER SYSTEM {change}")
        self.execute("SELECT pg_reload_conf()")
        # The parent process reloads later, and notifies its backends before it accepts another connection.
        until(lambda: self.execute(f"SELECT true WHERE pg_conf_load_time() > '{loaded}'"))


def until(is_so: Callable[[], object]) -> float:
    """Wait until the condition is true, ignoring its errors; return the seconds that it took."""
    began = time.monotonic()

    def holds() -> object:
        with suppress(psycopg.Error):
            return is_so()
        return False

    eventually(holds)
    return time.monotonic() - began


def _is_ended(session: psycopg.Connection[tuple[object, ...]]) -> bool:
    """Return whether the server has ended a session."""
    with suppress(psycopg.Error):
        session.execute("SELECT 1")
    return session.closed


def _children(parent: int) -> list[int]:
    return [int(pid) for pid in Path(f"/proc/{parent}/task/{parent}/children").read_text().split()]
