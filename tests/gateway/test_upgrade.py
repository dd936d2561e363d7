"""A database of the version before is brought up to date: it holds what a new one holds.

`schema_of_0_1.sql.gz` is such a database: `pg_dump --schema-only` after every migration, with the rows of
`django_migrations` and `django_content_type`.
"""

import gzip
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from django.db import connection as django_connection
from psycopg import sql

from gateway.run.options import PROJECT_DIR
from tests.support.leftovers import connect
from tests.support.schema import Schema, schema

DUMP = Path(__file__).with_name("schema_of_0_1.sql.gz")
NAME = f"upgrade_{os.getpid()}"


class Database:
    """A database of the version before, and a connection to it."""

    def __init__(self) -> None:
        with connect() as here:
            here.autocommit = True
            here.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(NAME)))
            self.parameters = {**here.info.get_parameters(), "password": here.info.password, "dbname": NAME}
        self.connection = psycopg.connect(**self.parameters, autocommit=True)
        self.connection.execute("SET check_function_bodies = off")
        self.connection.execute(gzip.decompress(DUMP.read_bytes()))
        self.connection.execute("RESET check_function_bodies")

    def manage(self, *arguments: str) -> str:
        """Run a management command on it as a deployment would; return what it said."""
        done = subprocess.run(
            [sys.executable, "manage.py", *arguments],
            cwd=PROJECT_DIR,
            env={**os.environ, "DATABASE_URL": self._url},
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    @property
    def _url(self) -> str:
        given = self.parameters
        return f"postgresql://{given['user']}:{given['password']}@{given['host']}:{given['port']}/{NAME}"

    def drop(self) -> None:
        """End it."""
        self.connection.close()
        with connect() as here:
            here.autocommit = True
            here.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(NAME)))


def differences(one: Schema, other: Schema) -> set[tuple[str, str, str]]:
    """Return what only one of them has: part, name, definition."""
    ones, others = ({(part, *item) for part, items in them.items() for item in items.items()} for them in (one, other))
    return ones ^ others


@pytest.fixture
def before(db: None) -> Iterator[Database]:
    database = Database()
    yield database
    database.drop()


def test_it_holds_what_a_new_database_holds(before: Database) -> None:
    before.manage("migrate", "--verbosity=0")
    with django_connection.cursor() as new, before.connection.cursor() as upgraded:
        assert differences(schema(upgraded), schema(new)) == set()
