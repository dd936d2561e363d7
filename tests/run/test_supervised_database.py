"""An embedded database that goes down is started again, also when it goes down while it starts."""

from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from gateway.run import restarts
from gateway.run.binaries import find
from gateway.run.database import SupervisedDatabase
from gateway.run.errors import StartError
from gateway.run.postgres import Cluster
from tests.support.concurrency import eventually
from tests.support.database import make_home

SHORTAGE = """#!/bin/sh
# Ends as often as there are files in the folder, when it is to serve; then it is the server.
[ "$1" != -D ] || for file in {folder}/*; do [ ! -e "$file" ] || {{ rm "$file"; {end}; }}; done
exec {server} "$@"
"""


@pytest.fixture
def cluster(monkeypatch: pytest.MonkeyPatch) -> Iterator[Cluster]:
    """Run a database, and wait less between its starts."""
    monkeypatch.setattr(restarts, "PAUSES_SECONDS", (0.0,) * len(restarts.PAUSES_SECONDS))
    made = Cluster(make_home(), durable=False)
    made.start()
    yield made
    made.stop()


def end_next_starts(cluster: Cluster, monkeypatch: pytest.MonkeyPatch, times: int, how: str) -> Path:
    """Kill the database, and have its next starts end with a shell command; return the folder with those to come."""
    server = find(None, {}).directory
    programs, folder = cluster.home / "bin", cluster.home / "ends"
    programs.mkdir(mode=0o755)
    folder.mkdir()
    folder.chmod(0o777)
    for number in range(times):
        (folder / str(number)).touch()
    (programs / "initdb").symlink_to(server / "initdb")
    (programs / "postgres").write_text(SHORTAGE.format(folder=folder, end=how, server=server / "postgres"))
    (programs / "postgres").chmod(0o755)
    monkeypatch.setenv("PG_BIN", str(programs))
    assert cluster.process is not None
    cluster.process.kill()
    cluster.process.wait()
    return folder


def test_a_kill_while_it_starts_is_survived_as_often_as_it_comes(
    cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines: list[str] = []
    database = SupervisedDatabase(cluster, lines.append)
    url = cluster.url
    ends = end_next_starts(cluster, monkeypatch, 7, "kill -9 $$")

    def serves_again() -> bool:
        database.tick()
        return cluster.process is not None and not cluster.has_ended()

    eventually(serves_again)
    assert list(ends.iterdir()) == []
    with psycopg.connect(url):
        pass
    assert lines[0] == "the database stopped (signal SIGKILL); restarting it"
    assert len(lines) == 8


def test_a_database_that_keeps_failing_ends_the_gateway_with_its_reason(
    cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    database = SupervisedDatabase(cluster, lambda text: None)
    ends = end_next_starts(cluster, monkeypatch, 9, "echo 'FATAL:  no memory'; exit 1")

    def tick() -> None:
        for _ in range(20):
            database.tick()

    with pytest.raises(StartError, match=r"^PostgreSQL did not start: no memory \(see "):
        tick()
    assert len(list(ends.iterdir())) == 4, "it was started as often as another process is"
