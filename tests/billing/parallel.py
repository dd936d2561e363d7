"""Runs ledger statements and elements of batches at once, each on a connection of its own, as several processes do."""

import asyncio
from collections.abc import Sequence
from typing import Any

import psycopg
from django.db import connection

from billing.operations.statement import Statement
from gateway.core.database import Element
from tests.factories.batches import statement as batch

Work = Statement[Any] | Element[Any]


def conninfo() -> str:
    """Give the address of the test's database."""
    settings = connection.settings_dict
    return psycopg.conninfo.make_conninfo(
        dbname=settings["NAME"],
        user=settings["USER"],
        password=settings["PASSWORD"],
        host=settings["HOST"],
        port=settings["PORT"],
    )


def at_once(*works: Work) -> list[Any]:
    """Run all at the same moment and give the results in order."""
    return [results[0] for results in one_after_another_at_once(*([work] for work in works))]


def one_after_another_at_once(*lanes: Sequence[Work]) -> list[list[Any]]:
    """Run several lanes at the same moment, each lane's work one after the other on its own connection."""
    return asyncio.run(_run(lanes))


async def run_on(connection: psycopg.AsyncConnection[Any], work: Work) -> Any:
    """Run one statement, or an element as a server process does: again, and waiting, where its wallet was busy."""
    if isinstance(work, Statement):
        return await _execute(connection, work)
    result = await _execute(connection, batch(work, wait=False))
    return result if result is not None else await _execute(connection, batch(work, wait=True))


async def _execute(connection: psycopg.AsyncConnection[Any], statement: Statement[Any]) -> Any:
    cursor = await connection.execute(statement.sql, statement.parameters)
    return statement.read(await cursor.fetchone())


async def _run(lanes: Sequence[Sequence[Work]]) -> list[list[Any]]:
    connections = [await psycopg.AsyncConnection.connect(conninfo(), autocommit=True) for _ in lanes]
    start = asyncio.Event()

    async def drive(connection: psycopg.AsyncConnection[Any], lane: Sequence[Work]) -> list[Any]:
        await start.wait()
        return [await run_on(connection, work) for work in lane]

    try:
        driving = [asyncio.create_task(drive(*pair)) for pair in zip(connections, lanes, strict=True)]
        await asyncio.sleep(0)
        start.set()
        return await asyncio.gather(*driving)
    finally:
        for opened in connections:
            await opened.close()
