"""A closing is final when its own function has said so, and by no other result."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest

from billing.operations import closings
from billing.operations.closings import Closing, OpenCall
from billing.queries import audit
from gateway.core.database import close_pool, ledger_connection
from gateway.core.database.batches import _select
from gateway.core.database.connection import LedgerConnection, statement_name
from gateway.core.runtime.background import drain
from inference.metering.closing import deliver
from inference.metering.journal import Entry, Journal, leftovers
from tests.factories.billing import Purse, state, used_for
from tests.support.concurrency import eventually_async
from tests.support.database import connect

pytestmark = pytest.mark.django_db(transaction=True)

FOREIGN = "SELECT * FROM test_foreign($2, $3, $1)"
FUNCTION = """
CREATE FUNCTION test_foreign(p_elements json, p_bodies bytea[], p_wait boolean)
RETURNS TABLE (answer json, body bytea) LANGUAGE plpgsql AS $$
BEGIN PERFORM nextval('test_foreign_runs'); {body} END $$
"""
RESULTS = [
    "RAISE unique_violation;",
    "RAISE numeric_value_out_of_range;",
    """answer := '{"outcome": "reserved", "admission": "ok"}'; RETURN NEXT;""",
    """answer := '{"outcome": "already", "usage_id": "use_other", "charge_microusd": 1, "hold_microusd": 1,
        "overrun_microusd": 0}'; RETURN NEXT;""",
]


@pytest.fixture
def operator() -> Iterator[psycopg.Connection[Any]]:
    """Count the runs of the foreign function beyond their rollback."""
    with connect(autocommit=True) as connection:
        connection.execute("CREATE SEQUENCE test_foreign_runs")
        yield connection
        connection.execute("DROP FUNCTION IF EXISTS test_foreign; DROP SEQUENCE test_foreign_runs")


def runs(operator: psycopg.Connection[Any]) -> int:
    row = operator.execute("SELECT last_value FROM test_foreign_runs WHERE is_called").fetchone()
    return row[0] if row else 0


def settlement(purse: Purse, call: str) -> Closing[Any]:
    reference = OpenCall(purse.owner, call, None)
    return closings.settle(reference, cost_microusd=30, basis="upstream", quantities=used_for(30))


def to_review(purse: Purse, call: str) -> Closing[Any]:
    return closings.review(OpenCall(purse.owner, call, None), reason="upstream_timeout")


def slots(journal: Journal) -> list[str]:
    return [leftover.usage_id for leftover in leftovers(journal.path.read_bytes())]


def on_loop(scene: Callable[[], Awaitable[Any]]) -> Any:
    async def run() -> Any:
        try:
            return await scene()
        finally:
            await close_pool()

    return asyncio.run(run())


async def mix_up(connection: LedgerConnection, closing: Closing[Any]) -> None:
    """Make a connection run another function where it should run the closing's, as a pooler can that mixes up sessions."""
    connection.pgconn.send_prepare(statement_name(FOREIGN), FOREIGN.encode())
    await connection._answer()
    connection.prepared[_select((closing.element.function.name,))] = statement_name(FOREIGN)


@pytest.mark.parametrize(("closing_of", "end"), [(settlement, "settled"), (to_review, "review")])
@pytest.mark.parametrize("result", RESULTS)
def test_another_functions_result_decides_nothing(
    operator: psycopg.Connection[Any], tmp_path: Path, result: str, closing_of: Any, end: str
) -> None:
    operator.execute(FUNCTION.format(body=result).encode())
    purse, journal = Purse().pay(1000), Journal(tmp_path)
    call = purse.call(100)
    closing, entry = closing_of(purse, call), journal.begin(call)

    async def scene() -> None:
        async with ledger_connection() as connection:
            await mix_up(connection, closing)
        assert await deliver(entry, closing) is None
        await eventually_async(lambda: runs(operator) >= 2)
        assert slots(journal) == [call]
        connection.prepared.clear()
        assert await drain(60) == 0

    on_loop(scene)
    assert (state(call), slots(journal)) == (end, [])
    assert audit.findings() == []
    journal.close()


def test_a_closing_that_its_own_function_refuses_is_given_up(tmp_path: Path) -> None:
    purse, journal = Purse().pay(1000), Journal(tmp_path)
    call = purse.call(100)
    reference = OpenCall(purse.owner, call, None)
    closing = closings.settle(reference, cost_microusd=30, basis="no such basis", quantities=used_for(30))
    entry: Entry = journal.begin(call)

    async def scene() -> None:
        assert await deliver(entry, closing) is None
        assert await drain(60) == 0

    on_loop(scene)
    assert (state(call), slots(journal)) == ("dispatched", [])
    journal.close()


def test_the_answer_to_a_closing_names_the_call(tmp_path: Path) -> None:
    purse = Purse().pay(1000)
    settled, released, reviewed = (purse.call(100) for _ in range(3))
    notes = [
        settlement(purse, settled).note,
        closings.release(OpenCall(purse.owner, released, None), resolution="not_sent").note,
        to_review(purse, reviewed).note,
        to_review(purse, reviewed).note,
        to_review(purse, "use_none").note,
    ]
    with connect() as database:
        rows = database.execute(
            "SELECT answer->>'usage_id', answer->>'outcome' FROM billing_close_calls(%s::json, NULL, true)",
            [(b"[" + b",".join(notes) + b"]").decode()],
        ).fetchall()
    assert rows == [
        (settled, "settled"),
        (released, "released"),
        (reviewed, "review"),
        (reviewed, "conflict"),
        ("use_none", "unknown"),
    ]
