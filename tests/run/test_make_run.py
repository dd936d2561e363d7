"""`make run`, as somebody types it: beside another gateway, as another user, on a database of its own."""

import os
import signal
import subprocess
from collections.abc import Iterator
from urllib.parse import urlsplit

import psycopg
import pytest
from psycopg import sql

from gateway.run.environment import load
from gateway.run.identity import database_identity
from gateway.run.options import PROJECT_DIR
from tests.run.machine import plain_user, processes_of, site_packages
from tests.support.concurrency import eventually
from tests.support.database import URL_VARIABLE
from tests.support.gateways import GatewayProcess


@pytest.fixture
def database_url() -> Iterator[str]:
    """Return the URL of an empty database on the session's server."""
    server, name = os.environ[URL_VARIABLE], f"make_run_{os.getpid()}"
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name)))
        yield urlsplit(server)._replace(path=f"/{name}").geturl()
        connection.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(name)))


def start_as_plain_user() -> GatewayProcess:
    """Start a gateway as a user without privileges, where this test may change users; as ourselves elsewhere."""
    gateway = GatewayProcess()
    found = plain_user()
    if found:
        gateway.identity, python = found
        gateway.identity.own(gateway.data_dir.parent)
        gateway.command = (python, "-m", "gateway.run")
        gateway.settings = {"PYTHONPATH": str(site_packages()), "HOME": str(gateway.data_dir.parent), "STATIC_ROOT": ""}
    return gateway.start()


def test_two_run_side_by_side_and_end_by_sigterm(database_url: str) -> None:
    made = GatewayProcess(command=("make", "--silent", "run"), settings={"DATABASE_URL": database_url}).start()
    plain = start_as_plain_user()
    try:
        for gateway in (made, plain):
            gateway.wait_until_ready()
            assert gateway.complaints == ""
        eventually(lambda: (made.health(), plain.health()) == (200, 200))
        assert load(made.data_dir)["DATABASE_URL"] == database_url
        assert not (made.data_dir / "postgres").exists()
        # As root, where no other user can run us (a checkout that only root enters), the database alone runs as another.
        owner = plain.identity or database_identity()
        data = (plain.data_dir / "postgres" / "PG_VERSION").stat()
        assert data.st_uid == (owner.uid if owner else os.geteuid())
    finally:
        codes = [gateway.stop(signal.SIGTERM) for gateway in (made, plain)]
    assert codes[1] == 0
    # make reports the signal that it got as its own end.
    assert codes[0] in (0, 2, -signal.SIGTERM)
    assert processes_of(made.data_dir) == processes_of(plain.data_dir) == []


@pytest.mark.parametrize(
    ("named", "expected"),
    [({}, ""), ({"NO_PROXY": "example.org"}, ",example.org"), ({"no_proxy": "example.org"}, ",example.org")],
)
def test_a_proxy_for_downloads_is_not_used_for_this_machine(named: dict[str, str], expected: str) -> None:
    environment = {name: value for name, value in os.environ.items() if name.lower() != "no_proxy"}
    command = ["make", "--silent", "--eval", "told: ; @echo $$NO_PROXY $$no_proxy", "told"]
    completed = subprocess.run(
        command, cwd=PROJECT_DIR, env=environment | named, capture_output=True, text=True, check=True
    )
    assert completed.stdout.split() == [f"127.0.0.1,localhost,::1{expected}"] * 2
