"""The two round trips to the ledger that a metered call makes."""

import asyncio
from typing import TypeVar
from weakref import WeakKeyDictionary

from django.conf import settings

from billing.operations.statement import Statement
from billing.rules.owners import Owner
from gateway.api.gates import Gates
from gateway.database import flushed, ledger_connection

GATE_WIDTH = 3
"""Statements of one wallet that may be in the database at once, per process: one works, one is on its way there, one on
its way back. Half of the pool is left to others."""

Row = TypeVar("Row")

_gates: WeakKeyDictionary[asyncio.AbstractEventLoop, Gates] = WeakKeyDictionary()


def shares_flush() -> bool:
    """Tell whether a statement should leave its flush to one that it shares with others.

    A wallet's row is then let go before the disk has answered. Where nobody else of this process is at the ledger, one
    transaction that flushes itself is cheaper than two.
    """
    return bool(settings.LEDGER_COMMIT != "sync") and not _gates_of_loop().is_empty


async def alone(statement: Statement[Row]) -> Row:
    """Run one statement, flushed by its own commit, that waits for no wallet's lock."""
    async with ledger_connection() as connection:
        return await connection.run(statement)


async def in_turn(owner: Owner, statement: Statement[Row]) -> Row:
    """Run a statement that locks a wallet: of one wallet, only so many are in the database at once."""
    gates = _gates_of_loop()
    await gates.enter(owner)
    try:
        async with ledger_connection() as connection:
            return await connection.run(statement)
    finally:
        gates.leave(owner)


async def then_flush(owner: Owner, statement: Statement[Row]) -> Row:
    """Run a statement that locks a wallet and does not flush itself; it is durable when this returns.

    The next of that wallet goes on as soon as the lock is free, and waits for no disk.
    """
    row = await in_turn(owner, statement)
    await flushed()
    return row


def _gates_of_loop() -> Gates:
    loop = asyncio.get_running_loop()
    gates = _gates.get(loop)
    if gates is None:
        gates = _gates[loop] = Gates(GATE_WIDTH)
    return gates
