"""One embedded PostgreSQL per test session, shared by all pytest-xdist workers, and connections to its databases."""

import atexit
import os
import shutil
import signal
from pathlib import Path
from types import FrameType
from typing import Any
from urllib.parse import quote

import psycopg
from django.db import connection

from gateway.run import temporary
from gateway.run.children import stop
from gateway.run.postgres import STOP_SECONDS, Cluster

URL_VARIABLE = "TEST_DATABASE_URL"
OWN_VARIABLE = "TEST_DATABASE_IS_OWN"
DATA_VARIABLE = "TEST_DATA_DIR"
BEGINS_THE_SESSION = DATA_VARIABLE not in os.environ
"""Whether this is the first process, which starts the workers."""


def provide_database() -> str:
    """Return the URL of the session's server, started here unless TEST_DATABASE_URL names one.

    The first process that gets here starts the workers, which inherit the variable, so there is one server.
    """
    url = os.environ.get(URL_VARIABLE)
    if url is None:
        url = os.environ[URL_VARIABLE] = _start()
        os.environ[OWN_VARIABLE] = "yes"
    return url


def ends_with_the_session(config: Any) -> bool:
    """Return whether the server ends with this session, or with that of this worker, so that no database has to be dropped: for
    that, the server waits until all that was changed is written, which takes ten seconds.

    A session that a test starts uses the same server, and others after it may.
    """
    return OWN_VARIABLE in os.environ and (BEGINS_THE_SESSION or hasattr(config, "workerinput"))


def provide_data_dir() -> str:
    """Return the session's empty data directory, which is removed at the end."""
    path = os.environ.get(DATA_VARIABLE)
    if path is None:
        path = os.environ[DATA_VARIABLE] = str(make_home())
    return path


def make_home() -> Path:
    """Return a new directory that the database's user can enter; it is removed when this process ends."""
    home = temporary.make_home("gateway-tests-")
    atexit.register(shutil.rmtree, home, ignore_errors=True)
    return home


def database_url(port: int | None = None) -> str:
    """Return the URL of this test's database, through another port if one is given."""
    at = connection.settings_dict
    user, password, host = (quote(str(at[name]), safe="") for name in ("USER", "PASSWORD", "HOST"))
    return f"postgresql://{user}:{password}@{host}:{port or at['PORT']}/{at['NAME']}"


def connect(**options: Any) -> psycopg.Connection[Any]:
    """Open a connection besides Django's, which code with its own event loop cannot use."""
    return psycopg.connect(database_url(), **options)


def _start() -> str:
    """Start a server in a new directory, and stop it when this process ends."""
    cluster = Cluster(make_home(), durable=False)
    atexit.register(_end, cluster)
    signal.signal(signal.SIGTERM, _interrupt)
    url = cluster.start()
    _trust(cluster, url)
    return url


def _end(cluster: Cluster) -> None:
    """End a server whose data nobody needs, without its writing them."""
    if cluster.process is not None:
        stop(cluster.process, signal.SIGQUIT, STOP_SECONDS)


def _trust(cluster: Cluster, url: str) -> None:
    """Ask nobody for a password: checking it takes half of the time of the tests' thousands of connections."""
    (cluster.home / "postgres" / "pg_hba.conf").write_text("host all all 127.0.0.1/32 trust\n")
    with psycopg.connect(url) as connection:
        connection.execute("SELECT pg_reload_conf()")


def _interrupt(number: int, frame: FrameType | None) -> None:
    """Handle a signal like Ctrl-C, so that fixtures and the server are torn down."""
    raise KeyboardInterrupt
