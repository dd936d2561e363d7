"""A slow disk delays every commit, and is fast again afterwards."""

import shutil
import time
from collections.abc import Iterator

import psycopg
import pytest

from bench.disk import slow_disk
from gateway.run.postgres import Cluster
from gateway.run.temporary import make_home


@pytest.fixture
def database_url() -> Iterator[str]:
    """Run a database that flushes, because PostgreSQL delays no flush that it does not make."""
    home = make_home()
    cluster = Cluster(home)
    try:
        yield cluster.start()
    finally:
        cluster.stop()
        shutil.rmtree(home, ignore_errors=True)


def commit_milliseconds(connection: psycopg.Connection) -> list[float]:
    """Return, in ascending order, how long each of some commits takes that is alone."""
    waits = []
    for _ in range(20):
        started_at = time.perf_counter()
        connection.execute("INSERT INTO noted VALUES (1)")
        waits.append(1000 * (time.perf_counter() - started_at))
    return sorted(waits)


def test_every_commit_waits_and_none_does_afterwards(database_url: str) -> None:
    with psycopg.connect(database_url, autocommit=True) as connection:
        connection.execute("CREATE TABLE noted (number int)")
        with slow_disk(database_url, 40):
            slow = commit_milliseconds(connection)
        fast = commit_milliseconds(connection)
    assert slow[0] >= 40
    assert fast[0] < 40
