"""A database that is migrated once for all tests of a session, and copied for those that need one."""

import fcntl
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from urllib.parse import urlsplit

import psycopg
from psycopg import sql

from gateway.run.options import PROJECT_DIR
from gateway.run.postgres import Cluster
from tests.support.database import DATA_VARIABLE, URL_VARIABLE
from tests.support.forked import run

FORGET_HISTORY = "UPDATE accounts_replay_epoch SET history = NULL, began_at = NULL, lost_until = NULL, origin = NULL"
"""Makes each copy a database of its own, which another cannot outdate."""


def template() -> str:
    """Return the name of a migrated database on the session's server."""
    _once("template", _make_template)
    return _template_name()


def drop_template() -> None:
    """Drop the database that `template` made, if it did: the server may outlive the session."""
    with _server() as server:
        server.execute(sql.SQL("DROP DATABASE IF EXISTS {}").format(sql.Identifier(_template_name())))


def copy_cluster(home: Path) -> None:
    """Put a migrated, empty database into a gateway's new data directory. It has not run there yet."""
    _once("cluster", _make_cluster)
    home.mkdir(parents=True, exist_ok=True)
    made = _cluster_home()
    subprocess.run(["cp", "-a", made / "postgres", made / "postgres.password", home], check=True)


def _once(name: str, make: Callable[[], None]) -> None:
    """Make something unless another worker already has."""
    done = _home() / f"{name}.made"
    with done.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not done.exists():
            make()
            done.touch()


def _home() -> Path:
    return Path(os.environ[DATA_VARIABLE])


def _cluster_home() -> Path:
    return _home() / "migrated"


def _template_name() -> str:
    return f"migrated-{_home().name}"


def _server() -> psycopg.Connection[tuple[object, ...]]:
    return psycopg.connect(os.environ[URL_VARIABLE], dbname="postgres", autocommit=True)


def _make_template() -> None:
    with _server() as server:
        server.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(_template_name())))
    _migrate(urlsplit(os.environ[URL_VARIABLE])._replace(path=f"/{_template_name()}").geturl())


def _make_cluster() -> None:
    home = _cluster_home()
    home.mkdir()
    cluster = Cluster(home, durable=False)
    try:
        _migrate(cluster.start())
    finally:
        cluster.stop()


def _migrate(url: str) -> None:
    command = [sys.executable, "manage.py", "migrate", "--verbosity=0"]
    run(command, check=True, cwd=PROJECT_DIR, env={**os.environ, "DATABASE_URL": url})
    with psycopg.connect(url) as database:
        database.execute(FORGET_HISTORY)
