"""The two round trips to the ledger that a metered call makes."""

import asyncio
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

from django.conf import settings

from billing.operations import ledger
from billing.operations.statement import Statement
from billing.rules.owners import Owner
from gateway.api.gates import Gates
from gateway.database import Trip, ledger_connection

GATE_WIDTH = 2
"""Statements of one wallet that may be in the database at once, per process: one works, one is on its way."""

Row = TypeVar("Row")

_gates: WeakKeyDictionary[asyncio.AbstractEventLoop, Gates] = WeakKeyDictionary()


def must_share(owner: Owner) -> bool:
    """Tell whether a wallet's row is to be let go before the flush that covers it, because others wait for it.

    Where nobody of this process does, one transaction that flushes itself is cheaper than two.
    """
    return bool(settings.LEDGER_COMMIT != "sync") and not _gates_of_loop().is_free(owner)


async def alone(statement: Statement[Row]) -> Row:
    """Run one statement, flushed by its own commit, that waits for no wallet's lock."""
    async with ledger_connection() as connection, Trip(connection, statement) as trip:
        return await trip.result()


async def in_turn(owner: Owner, statement: Statement[Row]) -> Row:
    """Run a statement that locks a wallet and flushes itself."""
    return (await _in_turn(owner, statement))[0]


async def then_flush(owner: Owner, statement: Statement[Row]) -> Row:
    """Run a statement that locks a wallet and does not flush itself; it is durable when this returns."""
    return (await _in_turn(owner, statement, ledger.flush()))[0]


async def _in_turn(owner: Owner, *statements: Statement[Any]) -> list[Any]:
    """Run statements of which the first locks the owner's wallet: the next in line need not wait for the others."""
    gates = _gates_of_loop()
    await gates.enter(owner)
    inside = True
    try:
        async with ledger_connection() as connection, Trip(connection, *statements) as trip:
            results = [await trip.result()]
            gates.leave(owner)
            inside = False
            for _ in statements[1:]:
                results.append(await trip.result())  # noqa: PERF401 - one after the other, as they come
    finally:
        if inside:
            gates.leave(owner)
    return results


def _gates_of_loop() -> Gates:
    loop = asyncio.get_running_loop()
    gates = _gates.get(loop)
    if gates is None:
        gates = _gates[loop] = Gates(GATE_WIDTH)
    return gates
