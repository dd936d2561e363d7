"""A gateway that cannot start says so in one line and leaves nothing running.

Its processes are forked. A process that is executed refuses to start in `test_gateway_running`.
"""

import errno
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace

import pytest

from gateway.run import datadir
from gateway.run.__main__ import main
from gateway.run.errors import StartError
from gateway.run.identity import database_identity
from gateway.run.launch import Launch, _failure_text
from gateway.run.ports import free_port
from gateway.run.postgres import Cluster
from tests.run.machine import processes_of, session_of
from tests.support.database import make_home
from tests.support.forked import Forked
from tests.support.gateways import FORKED_GATEWAY, GatewayProcess
from tests.support.migrated import copy_cluster

INITDB = """echo 'initdb: error: could not write: No space left on device' >&2
echo 'initdb: removing contents of data directory' >&2
exit 1"""


@dataclass
class Refusing(GatewayProcess):
    """A gateway that is to start in a data directory of its own, of which there is nothing yet."""

    popen = Forked
    command: Sequence[str] = FORKED_GATEWAY


def refusal(gateway: Refusing) -> str:
    """Return the one line with which a gateway refused to start."""
    assert gateway.start().wait() == 1
    assert "ready" not in gateway.stdout
    assert gateway.process is not None
    assert processes_of(gateway.data_dir) == session_of(gateway.process.pid) == []
    (line,) = gateway.stderr.splitlines()
    return line.removeprefix("gateway: ")


@pytest.mark.parametrize("port", ["0", "65536", "http", "-1", "8_0"])
def test_a_port_that_is_none(port: str) -> None:
    gateway = Refusing(settings={"PORT": port})
    assert refusal(gateway) == f"PORT must be a whole number from 1 to 65535, not {port!r}."


def test_a_host_of_another_machine() -> None:
    gateway = Refusing(settings={"HOST": "192.0.2.1"})
    assert refusal(gateway) == (
        f"Cannot listen on 192.0.2.1:{gateway.port}: Cannot assign requested address; set another PORT or HOST."
    )


def test_a_data_directory_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    gateway = Refusing(settings={"DATA_DIR": str(tmp_path / "file" / "data")})
    assert refusal(gateway) == (
        f"Cannot write to the data directory {tmp_path}/file/data: Not a directory; set DATA_DIR."
    )


def test_a_data_directory_on_a_read_only_system() -> None:
    gateway = Refusing(settings={"DATA_DIR": "/proc/data"})
    assert refusal(gateway).startswith("Cannot write to the data directory /proc/data: ")


def test_a_configuration_that_is_not_there(tmp_path: Path) -> None:
    gateway = Refusing(settings={"GATEWAY_CONFIG": str(tmp_path / "none.yaml")})
    assert refusal(gateway) == f"Cannot read GATEWAY_CONFIG {tmp_path}/none.yaml: No such file or directory."
    assert not gateway.data_dir.exists()


def test_a_configuration_that_is_broken(tmp_path: Path) -> None:
    config = tmp_path / "broken.yaml"
    config.write_text("products:\n  - {slug: studio, name: Studio, colour: red}\n")
    gateway = Refusing(settings={"GATEWAY_CONFIG": str(config)})
    copy_cluster(gateway.data_dir)
    line = refusal(gateway)
    assert line.startswith("broken.yaml")
    assert "colour" in line


def test_every_problem_of_a_configuration_is_named_at_once(tmp_path: Path) -> None:
    config = tmp_path / "broken.yaml"
    config.write_text("products:\n  - {slug: studio, name: Studio, colour: red}\n  - {slug: courier}\n")
    gateway = Refusing(settings={"GATEWAY_CONFIG": str(config)})
    copy_cluster(gateway.data_dir)
    assert gateway.start().wait() == 1
    first, second = gateway.stderr.splitlines()
    assert first.startswith("gateway: broken.yaml:2 products[0].colour: ")
    assert second.startswith("broken.yaml:3 products[1].name: ")


def test_a_database_that_is_away() -> None:
    port = free_port()
    gateway = Refusing(settings={"DATABASE_URL": f"postgresql://me:secret-word@127.0.0.1:{port}/gateway"})
    line = refusal(gateway)
    assert line.startswith(f"The database at 127.0.0.1:{port} does not answer: ")
    assert "secret-word" not in line
    assert not (gateway.data_dir / "postgres").exists()


def test_a_pg_bin_without_postgresql(tmp_path: Path) -> None:
    gateway = Refusing(settings={"PG_BIN": str(tmp_path)})
    assert refusal(gateway) == f"PG_BIN={tmp_path} has no PostgreSQL: it must contain the programs initdb and postgres."


def test_data_of_a_version_that_is_not_installed() -> None:
    gateway = Refusing()
    cluster = gateway.data_dir / "postgres"
    cluster.mkdir(parents=True)
    (cluster / "PG_VERSION").write_text("9\n")
    assert refusal(gateway).startswith("PostgreSQL 9, which made the data, was not found (found: ")


def test_a_disk_with_too_little_space_for_a_database(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(datadir.shutil, "disk_usage", lambda path: SimpleNamespace(free=100 * 2**20))
    cluster = Cluster(make_home(), durable=False)
    with pytest.raises(StartError) as refused:
        cluster.start()
    assert str(refused.value) == f"Only 100 MiB are free for {cluster.home}/postgres, and a new database needs 256."
    assert list(cluster.home.glob("postgres.new-*")) == []


def test_an_initdb_that_cleans_up_behind_its_error(monkeypatch: pytest.MonkeyPatch) -> None:
    home = make_home()
    for name, script in (("postgres", "echo 'postgres (PostgreSQL) 15.1'"), ("initdb", INITDB)):
        (home / name).write_text(f"#!/bin/sh\n{script}\n")
        (home / name).chmod(0o755)
    monkeypatch.setenv("PG_BIN", str(home))
    with pytest.raises(StartError, match=r"^initdb failed: initdb: error: could not write: No space left on device$"):
        Cluster(home, durable=False).start()


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EROFS])
def test_a_disk_that_fails_while_the_gateway_runs(
    number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(launch: Launch) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(Launch, "run", fail)
    monkeypatch.setattr(os, "umask", lambda mask: None)
    monkeypatch.setenv("DATA_DIR", str(tmp_path))
    assert main([]) == 1
    assert (
        capsys.readouterr().err == f"gateway: Cannot write to the data directory {tmp_path}: {os.strerror(number)}.\n"
    )


def test_an_error_of_our_own_keeps_its_traceback(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(launch: Launch) -> None:
        raise FileNotFoundError(errno.ENOENT, "no such file")

    monkeypatch.setattr(Launch, "run", fail)
    monkeypatch.setattr(os, "umask", lambda mask: None)
    with pytest.raises(FileNotFoundError):
        main([])


def test_a_preparation_that_could_not_say_why_it_failed(tmp_path: Path) -> None:
    log = tmp_path / "prepare.log"
    assert _failure_text("", log) == f"Preparing the database failed: no message, is the disk full? (see {log})"


def test_a_user_whom_the_system_does_not_know(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 2_000_000_001)
    with pytest.raises(
        StartError, match=r"^PostgreSQL does not run as user 2000000001, who has no entry in /etc/passwd"
    ):
        database_identity()
