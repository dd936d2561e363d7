"""The database becomes unavailable during a call, and recovers."""

import signal
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

import orjson
import psycopg
import pytest
from django.db import connection
from django.utils import timezone
from psycopg import sql

from billing.queries import audit
from inference.metering import recovery
from tests.support.concurrency import eventually
from tests.support.database import connect, database_url
from tests.support.journals import journals_in
from tests.support.processes import gateway_process
from tests.support.stage import CHAT, Caller, Stage, chat
from tests.support.unreliable import UnreliableWay

# Only of this test's database, because those of other workers are on the same server.
END_CONNECTIONS = """
SELECT pg_terminate_backend(pid, 60000) FROM pg_stat_activity
 WHERE application_name = 'gateway-ledger' AND datname = current_database()
"""
END_NEWER_CONNECTIONS = """
SELECT pg_terminate_backend(s.pid, 60000) FROM pg_stat_activity s, pg_stat_activity own
 WHERE own.pid = pg_backend_pid() AND s.datname = own.datname AND s.backend_start > own.backend_start
"""
BALANCE = 5_000


@pytest.fixture(scope="module")
def far(django_db_setup: None, django_db_blocker: Any) -> Iterator[tuple[str, UnreliableWay]]:
    """Run a gateway whose connection to the database can be cut."""
    with django_db_blocker.unblock():
        at = connection.settings_dict
    with (
        UnreliableWay(at["HOST"], int(at["PORT"])) as way,
        gateway_process(DATABASE_URL=database_url(way.port), CATALOGUE_TTL_SECONDS="0.5") as (origin, _),
    ):
        yield origin, way


@pytest.fixture
def world(stage: Stage, far: Any) -> tuple[Stage, UnreliableWay]:
    """Restore the connection, and refresh the gateway's cached catalogue."""
    stage.origin, way = far
    way.mend()
    time.sleep(0.5)
    return stage, way


def known(stage: Stage, model: Any, **fields: Any) -> Any:
    """Create a model and a caller, and wait until the other process has loaded both."""
    alias, caller = stage.model(model, **fields), stage.caller(balance=BALANCE)
    probe = stage.caller()
    eventually(lambda: probe.post(chat(alias), max_cost=1).json()["error"]["code"] == "max_cost_exceeded")
    return alias, caller


def settles(caller: Caller) -> Any:
    eventually(lambda: caller.only_call.state == "settled")
    call = caller.only_call
    assert caller.wallet == {"balance": BALANCE - call.charge_microusd, "held": 0, "debt": 0}
    assert audit.findings() == []


def test_a_client_gets_its_answer_before_its_charge_can_be_written(world: Any) -> None:
    stage, way = world
    alias, caller = known(stage, "small-1", max_output_tokens=20)
    with ThreadPoolExecutor() as threads, stage.upstream.holding():
        pending = threads.submit(caller.post, chat(alias), key="one")
        eventually(lambda: len(stage.upstream.ledger) == 1)
        way.cut()
        stage.upstream.release()
        answer = pending.result()
    assert answer.status_code == 200
    assert answer.headers["x-service-usage-id"] == caller.only_call.id
    assert "x-service-charge-microusd" not in answer.headers
    assert caller.only_call.state == "dispatched"
    way.mend()
    settles(caller)
    again = caller.post(chat(alias), key="one")
    assert again.headers["idempotent-replayed"] == "true"
    assert again.json()["choices"] == answer.json()["choices"]


def test_a_stream_ends_without_its_charge_and_is_charged_later(world: Any) -> None:
    stage, way = world
    alias, caller = known(stage, "small-1?tokens=20", max_output_tokens=50)
    with stage.upstream.holding(), caller.stream(chat(alias)) as answer:
        lines = answer.iter_lines()
        next(lines)
        way.cut()
        stage.upstream.release()
        rest = [line for line in lines if line]
    assert rest[-2] == "data: [DONE]"
    receipt = orjson.loads(rest[-1].removeprefix(": service "))
    assert receipt == {"usage_id": caller.only_call.id, "charge_microusd": None}
    way.mend()
    settles(caller)


def test_without_the_database_nothing_is_sent(world: Any) -> None:
    stage, way = world
    alias, caller = known(stage, "small-1", max_output_tokens=20)
    way.cut()
    answer = caller.post(chat(alias))
    assert (answer.status_code, answer.json()["error"]["code"]) == (503, "not_ready")
    assert answer.headers["retry-after"] == "1"
    assert len(stage.upstream.ledger) == 0
    assert caller.calls == []
    way.mend()
    eventually(lambda: caller.post(chat(alias)).status_code == 200)


def test_a_hold_whose_answer_was_lost_is_released(world: Any) -> None:
    stage, way = world
    alias, caller = known(stage, "small-1", max_output_tokens=20)
    with ThreadPoolExecutor() as threads:
        way.swallowing = True
        pending = threads.submit(caller.post, chat(alias))
        eventually(lambda: caller.calls)
        way.cut()
        answer = pending.result()
    assert (answer.status_code, answer.json()["error"]["code"]) == (503, "not_ready")
    assert len(stage.upstream.ledger) == 0
    way.mend()
    eventually(lambda: caller.only_call.state == "released")
    assert caller.wallet == {"balance": BALANCE, "held": 0, "debt": 0}


def test_a_locked_wallet_does_not_keep_others_waiting(stage: Stage) -> None:
    alias, stuck, other = stage.model(max_output_tokens=20), stage.caller(balance=BALANCE), stage.caller()
    usual = seconds_for_calls(other, alias)
    with connect() as lock, ThreadPoolExecutor(15) as threads:
        lock.execute("SELECT 1 FROM billing_wallet WHERE owner_key = %s FOR UPDATE", [stuck.did])
        waiting = [threads.submit(stuck.post, chat(alias)) for _ in range(12)]
        time.sleep(0.5)
        assert seconds_for_calls(other, alias) < usual + 3
        (freeing := threading.Timer(3.0, lock.rollback)).start()
        answers = [answer.result() for answer in waiting]
        freeing.join()
    codes = [200 if answer.status_code == 200 else answer.json()["error"]["code"] for answer in answers]
    assert set(codes) <= {200, "not_ready"}
    assert "not_ready" in codes  # the first ones exceeded the lock timeout
    assert len(stuck.calls) == codes.count(200)
    assert stuck.wallet["held"] == 0


def seconds_for_calls(caller: Caller, alias: str) -> float:
    """Make a few calls, which must be served; return how long they took."""
    started = time.monotonic()
    assert [caller.post(chat(alias)).status_code for _ in range(5)] == [200] * 5
    return time.monotonic() - started


def test_connections_that_the_server_ended_while_idle_are_not_used(stage: Stage) -> None:
    alias, caller = stage.model(max_output_tokens=20), stage.caller()
    assert caller.post(chat(alias)).status_code == 200
    with connect(autocommit=True) as operator:
        operator.execute(END_CONNECTIONS)
    assert [caller.post(chat(alias)).status_code for _ in range(3)] == [200, 200, 200]


def test_a_charge_waits_for_a_database_that_refuses_writes(stage: Stage) -> None:
    """As during a failover: the server responds, and every write fails for a reason that is unrelated to the call."""
    alias, caller = stage.model(max_output_tokens=20), stage.caller(balance=BALANCE)
    with connect(autocommit=True) as operator, ThreadPoolExecutor() as threads, stage.upstream.holding():
        pending = threads.submit(caller.post, chat(alias), key="one")
        eventually(lambda: len(stage.upstream.ledger) == 1)
        with refusing_writes(operator):
            stage.upstream.release()
            answer = pending.result()
            refused = caller.post(chat(alias), key="two")
        assert answer.status_code == 200
        assert "x-service-charge-microusd" not in answer.headers
        assert (refused.status_code, refused.json()["error"]["code"]) == (503, "not_ready")
    settles(caller)


@contextmanager
def refusing_writes(operator: psycopg.Connection[Any]) -> Iterator[None]:
    """Make the tests' database read-only for new connections, and make the gateway reconnect."""
    name = sql.Identifier(connection.settings_dict["NAME"])
    operator.execute(sql.SQL("ALTER DATABASE {} SET default_transaction_read_only = on").format(name))
    operator.execute(END_CONNECTIONS)
    try:
        yield
    finally:
        operator.execute("SET default_transaction_read_only = off")
        operator.execute(sql.SQL("ALTER DATABASE {} RESET default_transaction_read_only").format(name))
        operator.execute(END_NEWER_CONNECTIONS)  # of Django's pool too, which would keep the setting


def test_a_server_that_is_stopped_while_the_database_is_away_leaves_its_charge_to_the_next(
    stage: Stage, tmp_path: Path, settings: Any
) -> None:
    settings.CALL_JOURNAL_DIR = tmp_path
    far = {"CALL_JOURNAL_DIR": str(tmp_path), "CALLS_SECONDS": "2"}
    at, home = connection.settings_dict, stage.origin
    alias, caller = stage.model(max_output_tokens=20), stage.caller(balance=BALANCE)
    with (
        UnreliableWay(at["HOST"], int(at["PORT"])) as way,
        gateway_process(DATABASE_URL=database_url(way.port), **far) as (origin, server),
    ):
        caller.origin = origin
        with ThreadPoolExecutor() as threads, stage.upstream.holding():
            pending = threads.submit(caller.post, chat(alias), key="one")
            eventually(lambda: len(stage.upstream.ledger) == 1)
            way.cut()
            stage.upstream.release()
            assert pending.result().status_code == 200
        server.terminate()
        assert server.wait(timeout=60) in (0, -signal.SIGTERM)
    caller.origin = home
    assert caller.only_call.state == "dispatched"
    for minutes in (0, 1):
        recovery.recover(now=timezone.now() + timedelta(minutes=minutes))
    settles(caller)
    assert journals_in(tmp_path) == []


def test_a_call_without_a_journal_entry_is_refused_and_its_proof_is_used_up(stage: Stage, tmp_path: Path) -> None:
    alias, caller = stage.model(max_output_tokens=20), stage.caller(balance=BALANCE)
    first = caller.post(chat(alias), key="one")
    (tmp_path / "no folder").touch()
    with gateway_process(CALL_JOURNAL_DIR=str(tmp_path / "no folder")) as (origin, _):
        proof, home, caller.origin = caller.headers(CHAT), caller.origin, origin
        answers = [caller.post(chat(alias), headers=proof), caller.post(chat(alias), key="one")]
    caller.origin = home
    answers.append(caller.post(chat(alias), headers=proof))
    assert [answer.status_code for answer in answers] == [503, 200, 401]
    assert answers[0].json()["error"]["code"] == "not_ready"
    assert answers[1].content == first.content
    assert answers[2].json()["error"]["code"] == "invalid_dpop_proof"
    assert len(stage.upstream.ledger) == 1
    assert caller.only_call.state == "settled"


def test_a_hold_whose_answer_cannot_be_read_is_released(stage: Stage) -> None:
    alias, caller = stage.model(max_output_tokens=20), stage.caller(balance=BALANCE)
    with connect(autocommit=True) as operator:
        row = operator.execute("SELECT pg_get_functiondef('inference_open_admitted'::regproc)").fetchone()
        assert row is not None
        operator.execute(row[0].replace("'outcome', v_found.outcome", "'outcome', 'of a later release'").encode())
        try:
            answer = caller.post(chat(alias))
        finally:
            operator.execute(row[0].encode())
    assert answer.status_code == 500
    assert len(stage.upstream.ledger) == 0
    eventually(lambda: caller.only_call.state == "released")
    assert caller.wallet == {"balance": BALANCE, "held": 0, "debt": 0}
