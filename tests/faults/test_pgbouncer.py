"""A gateway behind PgBouncer: served in session mode; the other modes are refused, and never mix statements up."""

import asyncio
import random
import re
import sys
import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import httpx
import psycopg
import pytest
from psycopg import OperationalError

from billing.queries import audit
from gateway.core.database.connection import LedgerConnection
from gateway.core.database.pool import _parameters
from gateway.core.database.pooler import refuse_shared_sessions
from gateway.core.database.refusals import SharedSessions
from tests.faults.test_call_database_away import END_CONNECTIONS
from tests.support.concurrency import at_once, eventually
from tests.support.database import connect
from tests.support.pgbouncer import PgBouncer
from tests.support.processes import ServerProcess, gateway_process
from tests.support.stage import Caller, Stage, chat

REFUSED = "the connection pooler is not in session mode; set pool_mode = session (PgBouncer)"
BALANCE = 1_000_000


def test_calls_are_served_in_session_mode_and_refused_while_it_is_another(stage: Stage) -> None:
    alias, payers = stage.model(max_output_tokens=20), [stage.caller(balance=BALANCE) for _ in range(4)]
    with PgBouncer("session") as bouncer, gateway_process(DATABASE_URL=bouncer.url) as (origin, _):
        for payer in payers:
            payer.origin = origin
        eventually(lambda: payers[0].post(chat(alias)).status_code == 200)
        with ThreadPoolExecutor(8) as threads:
            answers = list(threads.map(lambda n: payers[n % 4].post(chat(alias)).status_code, range(300)))
        assert Counter(answers) == {200: 300}
        assert health(origin) == 200
        spent = [payer.wallet for payer in payers]

        bouncer.restart("transaction")
        eventually(lambda: health(origin) == 503, seconds=60)
        answer = payers[0].post(chat(alias))
        assert (answer.status_code, answer.json()["error"]["code"]) == (503, "not_ready")
        assert [payer.wallet for payer in payers] == spent

        bouncer.restart("session")
        eventually(lambda: health(origin) == 200, seconds=60)
        eventually(lambda: payers[0].post(chat(alias)).status_code == 200)
    assert all(wallet["held"] == 0 for wallet in spent)
    assert audit.findings() == []


def test_a_mode_that_changes_under_open_connections_is_refused_in_health_too(stage: Stage) -> None:
    alias, payer = stage.model(max_output_tokens=20), stage.caller(balance=BALANCE)
    with PgBouncer("session") as bouncer, gateway_process(DATABASE_URL=bouncer.url) as (origin, _):
        payer.origin = origin
        eventually(lambda: payer.post(chat(alias)).status_code == 200)
        assert health(origin) == 200

        bouncer.reload("transaction")
        eventually(lambda: is_unhealthy_after_a_call_in_another_session(origin, payer, alias), seconds=60)

        bouncer.reload("session")
        eventually(lambda: health(origin) == 200, seconds=60)
        eventually(lambda: payer.post(chat(alias)).status_code == 200, seconds=60)


def is_unhealthy_after_a_call_in_another_session(origin: str, payer: Caller, alias: str) -> bool:
    """Make the next call use another session: in one where its statements are prepared, it would be served by chance."""
    with connect() as database:
        database.execute(END_CONNECTIONS)
    payer.post(chat(alias))
    return health(origin) == 503


def health(origin: str) -> int:
    return httpx.get(f"{origin}/healthz", timeout=30).status_code


@pytest.mark.parametrize("size", [1, 2, 40])
@pytest.mark.parametrize("mode", ["transaction", "statement"])
def test_another_mode_is_recognized(mode: str, size: int) -> None:
    with PgBouncer(mode, size=size) as bouncer, pytest.raises(SharedSessions, match=re.escape(REFUSED)):
        refuse_shared_sessions(psycopg.conninfo.conninfo_to_dict(bouncer.url))


def test_another_mode_is_recognized_while_others_use_its_sessions() -> None:
    stopped = threading.Event()

    def keep_busy(url: str) -> None:
        with psycopg.connect(url, autocommit=True, prepare_threshold=None) as busy:
            while not stopped.is_set():
                busy.execute("SELECT 1")

    with PgBouncer("transaction", size=4) as bouncer, ThreadPoolExecutor() as threads:
        try:
            for _ in range(3):
                threads.submit(keep_busy, bouncer.url)
            parameters = psycopg.conninfo.conninfo_to_dict(bouncer.url)
            for _ in range(50):
                with pytest.raises(SharedSessions):
                    refuse_shared_sessions(parameters)
        finally:
            stopped.set()


def test_connections_opened_at_once_need_two_sessions_for_their_check() -> None:
    with PgBouncer("session", size=2) as bouncer:
        check = partial(refuse_shared_sessions, psycopg.conninfo.conninfo_to_dict(bouncer.url))
        assert at_once(*[check] * 8) == [None] * 8


def test_a_gateway_does_not_start_in_another_mode() -> None:
    with PgBouncer("transaction") as bouncer:
        server = ServerProcess(
            settings={"DATABASE_URL": bouncer.url, "DJANGO_SETTINGS_MODULE": "gateway.settings.test"}
        )
        server.command = (sys.executable, "-m", "uvicorn", "gateway.asgi:application", "--port", str(server.port))
        assert server.start().wait() == 3
        preparing = server.manage("prepare")
    assert re.findall(rf"^.*{re.escape(REFUSED)}.*$", server.log, re.MULTILINE)[-1] == (
        f"ERROR:    The database is not used: {REFUSED}"
    )
    assert "Traceback" not in server.log
    assert preparing.returncode == 1
    [line] = [line for line in preparing.stderr.splitlines() if line.startswith("CommandError")]
    assert line.endswith(f"is not used: {REFUSED}")


def test_no_statement_runs_under_anothers_name_when_sessions_are_shared() -> None:
    with PgBouncer("transaction", size=3) as bouncer:
        results = asyncio.run(crowd(bouncer.url, connections=8, statements=10_000))
    assert results["another's"] == 0
    assert results["own"] > 0
    assert results["own"] + results["refused"] == 10_000


async def crowd(url: str, *, connections: int, statements: int) -> "Counter[str]":
    """Run statements in another order on each connection, and count whose results came."""
    results: Counter[str] = Counter()
    parameters = {**_parameters(), **psycopg.conninfo.conninfo_to_dict(url)}

    async def run(seed: int) -> None:
        order = random.Random(seed)
        connection = await opened(parameters)
        for _ in range(statements // connections):
            number = order.randrange(40)
            try:
                [(found,)] = await connection.run(f"SELECT $1::int + {number}", [1000])
                results["own" if found == 1000 + number else "another's"] += 1
            except psycopg.Error:
                results["refused"] += 1
                if connection.failure:
                    connection = await opened(parameters)
        connection.fail(OperationalError("the test is over"))

    await asyncio.gather(*(run(seed) for seed in range(connections)))
    return results


async def opened(parameters: dict[str, Any]) -> LedgerConnection:
    connection = await LedgerConnection.connect(**parameters)
    connection.watch()
    return connection
