"""Batches: waiting elements share a statement, failures stay isolated, and no answer is used before its commit."""

import asyncio
import os
import signal
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from typing import Any

import orjson
import psycopg
import pytest
import uvloop
from psycopg_pool import PoolTimeout

from gateway.core.database import BatchFunction, Element, Unanswered, batches, close_pool
from gateway.core.database import connection as connections
from gateway.core.database.batches import BATCH_ELEMENTS_MAX, HELD_UP_LANES, LANES, Batches
from gateway.core.database.connection import LedgerConnection
from gateway.core.database.pool import _parameters
from tests.support.concurrency import eventually_async
from tests.support.database import connect

pytestmark = pytest.mark.django_db(transaction=True)

# Answers each element with itself, its position in its statement, and its transaction; `sql` is run first.
FUNCTION = """
CREATE OR REPLACE FUNCTION test_batch(p_elements json, p_bodies bytea[], p_wait boolean)
RETURNS TABLE (answer json, body bytea) LANGUAGE plpgsql AS $$
DECLARE
  v_element json;
  v_place integer := 0;
BEGIN
  INSERT INTO test_batch_run VALUES (DEFAULT);
  FOR v_element IN SELECT * FROM json_array_elements(p_elements) LOOP
    v_place := v_place + 1;
    body := p_bodies[v_place];
    IF v_element->>'sql' IS NOT NULL THEN
      EXECUTE v_element->>'sql';
    END IF;
    answer := json_build_object('n', v_element->'n', 'place', v_place, 'wait', p_wait, 'transaction',
                                pg_current_xact_id()::text);
    IF v_element->>'lock' IS NOT NULL THEN
      IF NOT p_wait AND NOT (SELECT pg_try_advisory_xact_lock((v_element->>'lock')::bigint)) THEN
        answer := json_build_object('outcome', 'busy');
      ELSIF p_wait THEN
        PERFORM pg_advisory_xact_lock((v_element->>'lock')::bigint);
      END IF;
    END IF;
    RETURN NEXT;
  END LOOP;
END $$
"""
AT_COMMIT = """
CREATE OR REPLACE FUNCTION test_at_commit() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN {body} RETURN NULL; END $$;
CREATE CONSTRAINT TRIGGER test_at_commit AFTER INSERT ON test_batch_run DEFERRABLE INITIALLY DEFERRED
  FOR EACH ROW EXECUTE FUNCTION test_at_commit();
"""
LOCKED = "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
TEST = BatchFunction(0, "test_batch")
LATER = BatchFunction(1, "test_batch")


@pytest.fixture(autouse=True)
def operator() -> Iterator[psycopg.Connection[Any]]:
    """Create the test's function, and provide a connection outside the pool."""
    with connect(autocommit=True) as connection:
        connection.execute("CREATE TABLE test_batch_run (n bigserial)")
        connection.execute(FUNCTION)
        yield connection
        connection.execute("DROP TABLE test_batch_run")
        connection.execute("DROP FUNCTION test_batch; DROP FUNCTION IF EXISTS test_at_commit")


def element(
    n: int, owner: str = "alice", function: BatchFunction = TEST, body: bytes | None = None, **more: Any
) -> Any:
    """Build an element that reads its whole answer and body."""
    arguments = orjson.dumps({"n": n, **more})
    return Element(function, owner, arguments, lambda answer, body: (answer, body), body)


def on_loop(
    scene: Callable[[Batches], Awaitable[Any]], loop: Callable[[], asyncio.AbstractEventLoop] | None = None
) -> Any:
    """Run a scene with the batches of its own event loop."""

    async def run() -> Any:
        try:
            return await scene(Batches())
        finally:
            await close_pool()

    with asyncio.Runner(loop_factory=loop) as runner:
        return runner.run(run())


def runs(operator: psycopg.Connection[Any]) -> int:
    """Count the statements that were committed."""
    row = operator.execute("SELECT count(*) FROM test_batch_run").fetchone()
    assert row is not None
    return int(row[0])


async def all_of(batches: Batches, *elements: Any) -> list[Any]:
    """Run elements concurrently. An error takes the place of its answer."""
    return await asyncio.gather(*(batches.run(it) for it in elements), return_exceptions=True)


async def begun(batches: Batches, *elements: Any) -> "list[asyncio.Task[Any]]":
    """Run elements in a batch of their own, and return their tasks once it is in progress."""
    tasks = [asyncio.create_task(batches.run(it)) for it in elements]
    owners = {it.owner for it in elements}
    for _ in range(3):  # turns of the loop: the elements queue, their batch is scheduled, and takes them
        await asyncio.sleep(0)
    assert owners <= batches._under_way
    return tasks


def test_elements_that_arrive_together_share_a_statement() -> None:
    owners = [f"owner {n % 7}" for n in range(20)]
    answers = on_loop(lambda batches: all_of(batches, *(element(n, owner) for n, owner in enumerate(owners))))
    assert [answer["n"] for answer, _ in answers] == list(range(20))
    assert len({answer["transaction"] for answer, _ in answers}) == 1


def test_an_owners_elements_wait_for_each_other_and_form_one_batch_in_order() -> None:
    async def scene(batches: Batches) -> Any:
        first = await begun(batches, element(0))
        return [await first[0], *await all_of(batches, *(element(n) for n in range(1, 20)))]

    answers = on_loop(scene)
    assert [answer["n"] for answer, _ in answers] == list(range(20))
    first, *rest = [(answer["transaction"], answer["place"]) for answer, _ in answers]
    assert first[1] == 1
    assert rest == [(rest[0][0], place) for place in range(1, 20)]
    assert rest[0][0] != first[0]


def test_a_second_batch_waits_until_it_has_as_many_owners_as_the_first(
    operator: psycopg.Connection[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(batches, "PATIENCE_SECONDS", 60.0)
    operator.execute("SELECT pg_advisory_lock(6)")
    stuck = "SET LOCAL lock_timeout = '60s'; SELECT pg_advisory_xact_lock(6)"

    async def scene(batches: Batches) -> Any:
        first = await begun(batches, *(element(n, f"first {n}", sql=stuck) for n in range(3)))
        second = [asyncio.create_task(batches.run(element(n, f"second {n}"))) for n in range(2)]
        await asyncio.sleep(0.05)
        assert len(batches._under_way) == 3
        second.append(asyncio.create_task(batches.run(element(2, "second 2"))))
        answers = await asyncio.gather(*second)
        assert not any(task.done() for task in first)
        operator.execute("SELECT pg_advisory_unlock(6)")
        await asyncio.gather(*first)
        return answers

    answers = on_loop(scene)
    assert [answer["n"] for answer, _ in answers] == [0, 1, 2]
    assert len({answer["transaction"] for answer, _ in answers}) == 1


def test_a_second_batch_does_not_wait_for_a_statement_that_hangs(operator: psycopg.Connection[Any]) -> None:
    operator.execute("SELECT pg_advisory_lock(6)")
    stuck = "SET LOCAL lock_timeout = '60s'; SELECT pg_advisory_xact_lock(6)"

    async def scene(batches: Batches) -> Any:
        first = await begun(batches, *(element(n, f"first {n}", sql=stuck) for n in range(3)))
        answer, _ = await batches.run(element(3, "second"))
        assert not any(task.done() for task in first)
        operator.execute("SELECT pg_advisory_unlock(6)")
        await asyncio.gather(*first)
        return answer

    assert on_loop(scene)["n"] == 3


def test_a_batch_has_a_limit(operator: psycopg.Connection[Any]) -> None:
    answers = on_loop(lambda batches: all_of(batches, *(element(n) for n in range(2 * BATCH_ELEMENTS_MAX + 1))))
    sizes = Counter(answer["transaction"] for answer, _ in answers)
    assert sorted(sizes.values()) == [1, BATCH_ELEMENTS_MAX, BATCH_ELEMENTS_MAX]


def test_functions_run_in_the_order_of_their_ranks_and_bodies_stay_with_their_elements() -> None:
    async def scene(batches: Batches) -> Any:
        [first] = await begun(batches, element(0))
        later = [element(1, function=LATER, body=b"one"), element(2, body=b"two"), element(3, function=LATER)]
        return await all_of(batches, *later), await first

    (one, two, three), _ = on_loop(scene)
    assert (one[1], two[1], three[1]) == (b"one", b"two", None)
    assert len({one[0]["transaction"], two[0]["transaction"], three[0]["transaction"]}) == 1
    assert (two[0]["place"], one[0]["place"], three[0]["place"]) == (1, 1, 2)


@pytest.mark.parametrize(
    ("condition", "error"),
    [
        ("division_by_zero", psycopg.DataError),
        ("program_limit_exceeded", psycopg.errors.ProgramLimitExceeded),
        ("statement_too_complex", psycopg.errors.StatementTooComplex),
    ],
)
def test_a_failed_element_does_not_affect_others(
    operator: psycopg.Connection[Any], condition: str, error: type[psycopg.Error]
) -> None:
    broken = element(2, sql=f"DO $$ BEGIN RAISE {condition}; END $$")
    answers = on_loop(lambda batches: all_of(batches, element(0), element(1), broken, element(3, "bob"), element(4)))
    assert isinstance(answers[2], error)
    assert [answers[n][0]["n"] for n in (0, 1, 3, 4)] == [0, 1, 3, 4]
    assert runs(operator) == 4  # one by one, after the batch failed


def test_an_element_whose_lock_wait_times_out_does_not_affect_others(operator: psycopg.Connection[Any]) -> None:
    operator.execute("SELECT pg_advisory_lock(8)")
    stuck = element(1, "stuck", sql="SELECT pg_advisory_xact_lock(8)")
    others = [element(n, f"other {n}") for n in range(2 * LANES)]
    *answers, last = on_loop(lambda batches: all_of(batches, *others, stuck))
    assert isinstance(last, psycopg.errors.LockNotAvailable)
    assert [answer["n"] for answer, _ in answers] == list(range(2 * LANES))


def test_an_error_of_the_whole_database_is_not_retried_one_by_one(operator: psycopg.Connection[Any]) -> None:
    tried = "SELECT nextval('test_batch_run_n_seq'); SET LOCAL transaction_read_only = on; CREATE TABLE never ()"
    refused = [element(n, sql=tried) for n in range(1, 4)]
    answers = on_loop(lambda batches: all_of(batches, *refused))
    assert [type(answer).__name__ for answer in answers] == ["ReadOnlySqlTransaction"] * 3
    [last] = operator.execute("SELECT last_value FROM test_batch_run_n_seq").fetchone() or [0]
    assert last == 2  # of one statement, which reached its first element


def test_a_locked_wallet_does_not_delay_other_owners(operator: psycopg.Connection[Any]) -> None:
    operator.execute("SELECT pg_advisory_lock(7)")

    async def scene(batches: Batches) -> Any:
        stuck = [asyncio.create_task(batches.run(element(n, "stuck", lock=7))) for n in range(3)]
        others = await all_of(batches, *(element(n, f"other {n}") for n in range(10)))
        await asyncio.to_thread(until_one_waits, operator)
        assert not any(task.done() for task in stuck)
        operator.execute("SELECT pg_advisory_unlock(7)")
        return others, await asyncio.gather(*stuck)

    others, stuck = on_loop(scene)
    assert [answer["n"] for answer, _ in others] == list(range(10))
    assert [answer["n"] for answer, _ in stuck] == [0, 1, 2]
    assert stuck[0][0]["wait"]


def test_what_takes_locks_of_several_owners_and_a_batch_do_not_wait_for_each_other(
    operator: psycopg.Connection[Any],
) -> None:
    """The counters of owners' events are locked beside the wallets, as when an account leaves several organizations."""
    record = "SELECT events_record('organization', '{}', 'membership.removed', '{{}}')".format

    async def scene(batches: Batches) -> Any:
        with connect() as closing:
            closing.execute("SET lock_timeout = '5s'")
            closing.execute(record("org_a"))
            owners = ["org_c", "org_b", "org_a"]
            batch = [
                asyncio.create_task(batches.run(element(n, owner, sql=record(owner)))) for n, owner in enumerate(owners)
            ]
            await eventually_async(lambda: operator.execute(LOCKED).fetchone())
            closing.execute(record("org_b"))
            closing.commit()
        return await asyncio.gather(*batch)

    answers = on_loop(scene)
    assert [answer["place"] for answer, _ in answers] == [3, 2, 1]
    assert runs(operator) == 1


@pytest.mark.parametrize("loop", [None, uvloop.new_event_loop], ids=["asyncio", "uvloop"])
@pytest.mark.parametrize(
    "ending", ["RAISE division_by_zero;", "PERFORM pg_terminate_backend(pg_backend_pid()); PERFORM pg_sleep(1);"]
)
def test_rows_are_not_believed_before_the_commit(operator: psycopg.Connection[Any], ending: str, loop: Any) -> None:
    operator.execute(AT_COMMIT.format(body=ending))
    [answer] = on_loop(lambda batches: all_of(batches, element(0)), loop)
    assert isinstance(answer, psycopg.DataError if "division" in ending else Unanswered)
    assert runs(operator) == 0


@pytest.mark.parametrize("loop", [None, uvloop.new_event_loop], ids=["asyncio", "uvloop"])
def test_a_reset_connection_is_noticed_and_nothing_runs_again(operator: psycopg.Connection[Any], loop: Any) -> None:
    slow = "SELECT pg_sleep(60)"

    async def scene(batches: Batches) -> Any:
        tasks = [*await begun(batches, element(0, sql=slow)), *await begun(batches, element(1, "bob", sql=slow))]
        pids = await asyncio.to_thread(working, operator, 2)
        for pid in pids:
            operator.execute("SELECT pg_terminate_backend(%s)", [pid])
        return await asyncio.gather(*tasks, return_exceptions=True), await batches.run(element(2))

    (first, second), (after, _) = on_loop(scene, loop)
    assert isinstance(first, Unanswered)
    assert isinstance(second, Unanswered)
    assert after["n"] == 2
    assert runs(operator) == 1


@pytest.mark.parametrize("loop", [None, uvloop.new_event_loop], ids=["asyncio", "uvloop"])
def test_a_statement_on_a_hung_database_is_abandoned(
    operator: psycopg.Connection[Any], monkeypatch: pytest.MonkeyPatch, loop: Any
) -> None:
    async def scene(batches: Batches) -> Any:
        await batches.run(element(0))
        with monkeypatch.context() as patch:
            patch.setattr(connections, "ANSWER_SECONDS", 1.0)
            hung = asyncio.create_task(all_of(batches, element(1, sql="SELECT pg_sleep(3)")))
            [pid] = await asyncio.to_thread(working, operator, 1)
        os.kill(pid, signal.SIGSTOP)
        try:
            return await hung, await batches.run(element(2))
        finally:
            os.kill(pid, signal.SIGCONT)

    [answer], (after, _) = on_loop(scene, loop)
    assert isinstance(answer, Unanswered)
    assert after["n"] == 2


def test_an_element_that_is_queued_too_long_fails_with_nothing_done(
    operator: psycopg.Connection[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(batches, "WAIT_SECONDS", 0.3)
    slow = element(0, sql="SELECT pg_sleep(1)")

    async def scene(batches: Batches) -> Any:
        return await asyncio.gather(*await begun(batches, slow), batches.run(element(1)), return_exceptions=True)

    first, second = on_loop(scene)
    assert isinstance(first, Unanswered)
    assert isinstance(second, PoolTimeout)


def test_an_element_that_is_queued_too_long_behind_locked_wallets_fails_with_nothing_done(
    operator: psycopg.Connection[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(batches, "WAIT_SECONDS", 1.9)  # a statement waits two seconds for a lock
    operator.execute("SELECT pg_advisory_lock(n) FROM generate_series(1, %s) n", [HELD_UP_LANES + 1])
    stuck = [element(n, f"stuck {n}", lock=n) for n in range(1, HELD_UP_LANES + 2)]
    answers = on_loop(lambda batches: all_of(batches, *stuck))
    assert Counter(type(answer) for answer in answers) == {Unanswered: HELD_UP_LANES, PoolTimeout: 1}


def until_one_waits(operator: psycopg.Connection[Any]) -> None:
    """Wait until a statement waits for the lock that represents a wallet's."""
    waiting = """
      SELECT 1 FROM pg_locks JOIN pg_database ON pg_database.oid = database
      WHERE datname = current_database() AND locktype = 'advisory' AND NOT granted
    """
    while not operator.execute(waiting).fetchone():
        pass


def working(operator: psycopg.Connection[Any], count: int) -> list[int]:
    """Wait until `count` statements of batches are running, and return the ids of their backends."""
    query = """
      SELECT pid FROM pg_stat_activity
      WHERE datname = current_database() AND state = 'active' AND query LIKE '%%test_batch(%%' AND pid <> %s
    """
    while True:
        pids = [row[0] for row in operator.execute(query, [operator.info.backend_pid]).fetchall()]
        if len(pids) == count:
            return pids


def test_a_large_answer_arrives_whole() -> None:
    blob = os.urandom(3_000_000)
    [(_, body)] = on_loop(lambda batches: all_of(batches, element(0, body=blob)))
    assert body == blob


def test_the_ledgers_connections_commit_synchronously() -> None:
    async def scene(batches: Batches) -> Any:
        connection = await LedgerConnection.connect(**_parameters())
        connection.watch()
        rows = await connection.run("SELECT current_setting('synchronous_commit')")
        connection.fail(psycopg.OperationalError("the test is over"))
        return rows

    assert on_loop(scene) == [("on",)]
