"""The names of prepared statements: the same on every connection, whatever the order of first use."""

import asyncio

import pytest
from psycopg import OperationalError

from gateway.core.database.connection import LedgerConnection, statement_name
from gateway.core.database.pool import _parameters

pytestmark = pytest.mark.django_db(transaction=True)

STATEMENTS = ["SELECT $1::int + 1", "SELECT $1::int * 2", "SELECT $1::int * 2 "]


def test_follow_from_the_statements_content() -> None:
    names = [statement_name(sql) for sql in STATEMENTS]
    assert len(set(names)) == 3
    assert names == [statement_name(sql) for sql in STATEMENTS]
    assert all(len(name) < 64 for name in names)  # PostgreSQL truncates longer ones


def test_are_the_same_on_connections_that_prepare_in_another_order() -> None:
    async def scene() -> None:
        one = await opened(STATEMENTS)
        other = await opened(STATEMENTS[::-1])
        assert one.prepared == other.prepared
        prepared = [
            await connection.run("SELECT name, statement FROM pg_prepared_statements") for connection in (one, other)
        ]
        assert set(STATEMENTS) < {statement for _, statement in prepared[0]}
        assert dict(prepared[0]) == dict(prepared[1])
        for connection in (one, other):
            connection.fail(OperationalError("the test is over"))

    asyncio.run(scene())


async def opened(statements: list[str]) -> LedgerConnection:
    connection = await LedgerConnection.connect(**_parameters())
    connection.watch()
    for sql in statements:
        await connection.run(sql, [3])
    return connection
