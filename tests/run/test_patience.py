"""A start that waits: it says for what, and ends as soon as it is to stop."""

import signal

import pytest

from gateway.run import patience
from gateway.run.datadir import _command_line
from gateway.run.launch import _last_step
from gateway.run.patience import Patience, Stopped
from gateway.run.postgres import Cluster
from tests.run.machine import processes_of
from tests.support.concurrency import eventually
from tests.support.database import make_home
from tests.support.gateways import GatewayProcess
from tests.support.migrated import copy_cluster


def test_it_speaks_only_after_silence(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [100.0]
    monkeypatch.setattr(patience.time, "monotonic", lambda: now[0])
    told: list[str] = []
    waiting = Patience(told.append)
    waiting.tell("starting ...")
    for seconds in (2.0, 0.6, 2.0, 0.6):
        now[0] += seconds
        waiting.check("starting")
    assert told == ["starting ...", "  still starting ...", "  still starting ..."]
    now[0] += 1.0
    waiting.check("starting", ahead_seconds=2.0)
    assert len(told) == 4


def test_it_names_the_step_that_goes_on() -> None:
    assert _last_step("") == "preparing the database"
    assert _last_step("  collecting static files\n  migrating the database\n") == "migrating the database"


@pytest.mark.parametrize("served_before", [False, True])
def test_a_database_that_is_to_stop_while_it_starts_leaves_nothing(served_before: bool) -> None:
    cluster = Cluster(make_home(), durable=False, patience=Patience(is_stopping=lambda: True))
    if served_before:
        copy_cluster(cluster.home)
    with pytest.raises(Stopped):
        cluster.start()
    assert cluster.process is None
    assert list(cluster.home.glob("postgres.new-*")) == []
    assert (cluster.home / "postgres").exists() is served_before


def test_a_start_is_interrupted_at_once_and_says_so() -> None:
    gateway = GatewayProcess().start()
    eventually(lambda: "starting the database ...\n" in gateway.stdout or gateway.has_ended())
    assert gateway.stop(signal.SIGINT) == 0
    assert gateway.stdout.splitlines()[-1] == "stopping ..."
    assert gateway.complaints == ""
    assert processes_of(gateway.data_dir) == []


def test_a_server_is_known_by_its_command_line_where_there_is_no_proc() -> None:
    cluster = Cluster(make_home(), durable=False)
    copy_cluster(cluster.home)
    try:
        cluster.start()
        assert cluster.process is not None
        assert f"-D {cluster.home / 'postgres'} " in _command_line(cluster.process.pid)
    finally:
        cluster.stop()
