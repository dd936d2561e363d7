"""Transactions wait for the disk and see what others committed, whatever the database's own defaults are."""

from collections.abc import Iterator

import psycopg
import pytest
from django.db import connection
from psycopg import sql

from gateway.core.database.pool import _parameters
from tests.support.database import connect

pytestmark = pytest.mark.django_db(transaction=True)

SETTINGS_IN_FORCE = "SELECT current_setting('synchronous_commit'), current_setting('transaction_isolation')"


@pytest.fixture(autouse=True)
def _other_defaults() -> Iterator[None]:
    defaults = {"synchronous_commit": "off", "default_transaction_isolation": "serializable"}
    with connect(autocommit=True) as operator:
        database = sql.SQL("ALTER DATABASE {}").format(sql.Identifier(operator.info.dbname))
        for name, value in defaults.items():
            operator.execute(sql.SQL("{} SET {} = {}").format(database, sql.Identifier(name), sql.Literal(value)))
        yield
        for name in defaults:
            operator.execute(sql.SQL("{} RESET {}").format(database, sql.Identifier(name)))


def test_of_the_metered_routes() -> None:
    with psycopg.connect(**_parameters()) as session:
        assert session.execute(SETTINGS_IN_FORCE).fetchone() == ("on", "read committed")


def test_of_everything_else() -> None:
    with psycopg.connect(**connection.get_connection_params()) as session:
        assert session.execute(SETTINGS_IN_FORCE).fetchone() == ("on", "read committed")
