"""The ledger's connections and batches handle mismatched answers and a closed socket."""

import asyncio
import os
import signal
import socket
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import psycopg
import pytest
import uvloop

from gateway.core.database import BatchFunction, Unanswered
from gateway.core.database.batches import LANES, Batches
from gateway.core.database.connection import LedgerConnection
from gateway.core.database.pool import _parameters
from tests.gateway.test_ledger_batches import all_of, element, on_loop
from tests.support.database import connect

pytestmark = pytest.mark.django_db(transaction=True)

FUNCTION = """
CREATE FUNCTION test_answer(p_elements json, p_bodies bytea[], p_wait boolean)
RETURNS TABLE (answer {type}, body bytea) LANGUAGE plpgsql AS $$ BEGIN {body} END $$
"""
ANSWER = BatchFunction(0, "test_answer")
FITTING = "answer := json_build_object('n', p_elements->0->'n'); RETURN NEXT;"


@pytest.fixture
def operator() -> Iterator[psycopg.Connection[Any]]:
    """Provide a connection outside the pool."""
    with connect(autocommit=True) as connection:
        yield connection
        connection.execute("DROP FUNCTION IF EXISTS test_answer")


def make(operator: psycopg.Connection[Any], body: str, type_name: str = "json") -> None:
    """Replace the function."""
    operator.execute("DROP FUNCTION IF EXISTS test_answer")
    operator.execute(FUNCTION.format(body=body, type=type_name))


@pytest.mark.parametrize(
    "body",
    [
        "RETURN;",
        "answer := NULL; RETURN NEXT;",
        "answer := '[1]'; RETURN NEXT;",
        "answer := '{}'; RETURN NEXT; RETURN NEXT;",
    ],
)
def test_mismatched_answers_do_not_affect_later_elements(operator: psycopg.Connection[Any], body: str) -> None:
    async def scene(batches: Batches) -> list[Any]:
        odd = [(await all_of(batches, element(n, f"owner {n}", ANSWER)))[0] for n in range(LANES + 1)]
        make(operator, FITTING)
        return [*odd, *await all_of(batches, element(7, "owner 0", ANSWER))]

    make(operator, body)
    *odd, fitting = on_loop(scene)
    assert [type(answer) for answer in odd] == [Unanswered] * (LANES + 1)
    assert fitting == ({"n": 7}, None)


def test_a_function_whose_result_type_changes_is_prepared_again(operator: psycopg.Connection[Any]) -> None:
    async def scene(batches: Batches) -> list[Any]:
        before = await all_of(batches, element(1, function=ANSWER))
        make(operator, FITTING, "jsonb")
        await all_of(batches, element(2, function=ANSWER))  # learns of it
        return before + await all_of(batches, element(3, function=ANSWER))

    make(operator, FITTING)
    assert on_loop(scene) == [({"n": 1}, None), ({"n": 3}, None)]


@pytest.mark.parametrize("loop", [asyncio.new_event_loop, uvloop.new_event_loop])
def test_a_connection_that_fails_during_a_write_does_not_affect_the_next(
    loop: Callable[[], asyncio.AbstractEventLoop],
) -> None:
    async def scene(batches: Batches) -> bool:
        connection = await LedgerConnection.connect(**_parameters())
        connection.watch()
        [(pid, _)] = await connection.run("SELECT pg_backend_pid(), length($1::text)", ["x"])
        os.kill(pid, signal.SIGSTOP)
        try:
            much = connection.run("SELECT pg_backend_pid(), length($1::text)", ["x" * 30_000_000])
            running = asyncio.create_task(much)
            await asyncio.sleep(0.2)
            number = connection.pgconn.socket
            connection.fail(psycopg.OperationalError("gone"))
        finally:
            os.kill(pid, signal.SIGCONT)
        return await is_notified(number, running)

    assert on_loop(scene, loop)


def opened_sockets(opened: ExitStack) -> Iterator[socket.socket]:
    """Open sockets, each with the lowest free descriptor, until `opened` closes them."""
    for _ in range(64):
        yield from [opened.enter_context(one) for one in socket.socketpair()]


async def is_notified(number: int, running: "asyncio.Task[Any]") -> bool:
    """Open sockets until one has the descriptor `number`; return whether its writer is called after the statement ends."""
    can_write = asyncio.Event()
    with ExitStack() as opened:
        mine = next(it for it in opened_sockets(opened) if it.fileno() == number)
        loop = asyncio.get_running_loop()
        loop.add_writer(mine, can_write.set)
        with pytest.raises(Unanswered):
            await running
        can_write.clear()
        try:
            async with asyncio.timeout(30):
                return await can_write.wait()
        except TimeoutError:
            return False
        finally:
            loop.remove_writer(mine)
