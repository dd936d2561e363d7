"""The two round trips to the ledger that a metered call makes."""

import asyncio
from typing import TypeVar
from weakref import WeakKeyDictionary

from django.conf import settings

from billing.operations import ledger
from billing.operations.statement import Statement, in_one_trip
from billing.rules.owners import Owner
from gateway.api.gates import Gates
from gateway.database import ledger_connection

GATE_WIDTH = 2
"""Statements of one wallet that may be in the database at once, per process: one works, one is on its way."""

Row = TypeVar("Row")

_gates: WeakKeyDictionary[asyncio.AbstractEventLoop, Gates] = WeakKeyDictionary()


def is_pipelined() -> bool:
    """Tell whether a wallet's row is let go before the flush that covers it."""
    return bool(settings.LEDGER_COMMIT != "sync")


async def alone(statement: Statement[Row]) -> Row:
    """Run one statement, flushed by its own commit, that waits for no wallet's lock."""
    async with ledger_connection() as connection:
        return await statement.on(connection)


async def then_flush(owner: Owner, statement: Statement[Row]) -> Row:
    """Run a statement that locks a wallet, durable when this returns. In sync mode it flushes itself."""
    if is_pipelined():
        result, _ = await both(owner, statement, ledger.flush())
        return result  # type: ignore[no-any-return]
    async with _turn(owner), ledger_connection() as connection:
        return await statement.on(connection)


async def both(owner: Owner, first: Statement[Row], second: Statement[object]) -> tuple[Row, object]:
    """Run two statements in one round trip, each a transaction of its own; the first locks the owner's wallet."""
    async with _turn(owner), ledger_connection() as connection:
        results = await in_one_trip(connection, first, second)
    return results[0], results[1]


class _turn:  # noqa: N801 - used as a statement
    """Waits for the owner's turn."""

    def __init__(self, owner: Owner) -> None:
        self._owner = owner
        self._gates = _gates_of_loop()

    async def __aenter__(self) -> None:
        await self._gates.enter(self._owner)

    async def __aexit__(self, *exc: object) -> None:
        self._gates.leave(self._owner)


def _gates_of_loop() -> Gates:
    loop = asyncio.get_running_loop()
    gates = _gates.get(loop)
    if gates is None:
        gates = _gates[loop] = Gates(GATE_WIDTH)
    return gates
