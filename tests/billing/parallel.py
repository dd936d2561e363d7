"""Runs ledger statements at once, each on a connection of its own."""

import asyncio
from collections.abc import Sequence
from typing import Any

import psycopg
from django.db import connection

from billing.operations.statement import Statement


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


def at_once(*statements: Statement[Any]) -> list[Any]:
    """Run the statements at the same moment and give their results in order."""
    return [results[0] for results in one_after_another_at_once(*([statement] for statement in statements))]


def one_after_another_at_once(*lanes: Sequence[Statement[Any]]) -> list[list[Any]]:
    """Run several lanes at the same moment, each lane's statements one after the other on its own connection."""
    return asyncio.run(_run(lanes))


async def _run(lanes: Sequence[Sequence[Statement[Any]]]) -> list[list[Any]]:
    connections = [await psycopg.AsyncConnection.connect(conninfo(), autocommit=True) for _ in lanes]
    start = asyncio.Event()

    async def drive(connection: psycopg.AsyncConnection[Any], lane: Sequence[Statement[Any]]) -> list[Any]:
        await start.wait()
        return [await statement.on(connection) for statement in lane]

    try:
        driving = [asyncio.create_task(drive(*pair)) for pair in zip(connections, lanes, strict=True)]
        await asyncio.sleep(0)
        start.set()
        return await asyncio.gather(*driving)
    finally:
        for opened in connections:
            await opened.close()
