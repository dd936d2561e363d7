"""What `prepare` refuses before it changes anything."""

import os
import sys
from urllib.parse import urlsplit

from gateway.run.options import PROJECT_DIR
from tests.support import database
from tests.support.forked import run


def test_a_database_of_another_encoding_is_refused() -> None:
    """A cluster that was made without a locale makes databases in SQL_ASCII, whose texts come as bytes."""
    name = f"ascii_{os.getpid()}"
    with database.connect(autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name} ENCODING 'SQL_ASCII' LOCALE 'C' TEMPLATE template0".encode())
        try:
            url = urlsplit(os.environ["DATABASE_URL"])._replace(path=f"/{name}").geturl()
            prepare = [sys.executable, "manage.py", "prepare"]
            done = run(prepare, cwd=PROJECT_DIR, env={**os.environ, "DATABASE_URL": url})
        finally:
            connection.execute(f"DROP DATABASE {name} WITH (FORCE)".encode())
    assert done.returncode == 1
    [line] = done.stderr.splitlines()
    assert "encoding is SQL_ASCII; UTF8 is needed." in line
