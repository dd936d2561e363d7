"""PostgreSQL itself crashes under load: whatever it acknowledged is there after recovery, and the ledger is sound.

The wallet's lock is given back before the flush that covers a change; this is the proof that nothing acknowledged
hangs on a commit that was lost.
"""

import asyncio
import os
import random
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

import psycopg
import pytest
from psycopg.types.json import Jsonb

from billing.operations import ledger
from billing.operations.ledger import Replay
from gateway.contract.ids import new_id
from gateway.database.flush import FLUSH
from gateway.run.postgres import Cluster
from tests.support.database import make_home

HOLD, COST, AMOUNT = 100, 40, 10**9
CHECKOUT = """
INSERT INTO billing_checkout (
  id, owner_kind, owner_key, kind, amount_microusd, idempotency_key, requested_by, provider, is_live, session_ref, url,
  status, paid_at, taken_back_microusd, movements, checks)
VALUES (%(id)s, 'account', %(owner)s, 'top_up', %(amount)s, %(id)s, %(owner)s, 'elsewhere', false, %(id)s,
        'https://pay.example', 'paid', now(), 0, 0, 0)
"""
WORKERS, ROUNDS = 8, 4
ROOT = Path(__file__).resolve().parents[2]


@dataclass
class Acknowledged:
    """What the ledger promised: calls that were dispatched, and calls that were settled."""

    tried: set[str] = field(default_factory=set)
    sent: set[str] = field(default_factory=set)
    settled: set[str] = field(default_factory=set)


@dataclass
class PrivateServer:
    """A durable PostgreSQL of this test's own, which it may crash."""

    cluster: Cluster
    url: str = ""

    def start(self) -> None:
        """Start it; after a crash it recovers by itself."""
        self.url = self.cluster.start()

    def crash(self) -> None:
        """End it as a crash would: no checkpoint, no flush, no farewell."""
        server = self.cluster.process
        assert server is not None
        os.kill(server.pid, signal.SIGQUIT)
        server.wait(30)
        self.cluster.process = None

    def manage(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run a management command against it."""
        environment = os.environ | {"DATABASE_URL": self.url, "DJANGO_SETTINGS_MODULE": "gateway.settings.test"}
        command = [sys.executable, "manage.py", *arguments]
        return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=120)


@pytest.fixture
def server() -> Iterator[PrivateServer]:
    """Give a server with the schema, and stop it afterwards."""
    started = PrivateServer(Cluster(make_home()))
    started.start()
    try:
        migrated = started.manage("migrate", "--verbosity=0")
        assert migrated.returncode == 0, migrated.stderr
        yield started
    finally:
        started.cluster.stop()


def test_nothing_acknowledged_is_lost(server: PrivateServer) -> None:
    owners = [f"did:web:studio.example:{name}" for name in ("hot", "alice", "bob")]
    acknowledged = Acknowledged()
    version = _fund(server.url, owners)
    for _ in range(ROUNDS):
        asyncio.run(_work_until_crash(server, owners, version, acknowledged))
        server.start()
        _check(server.url, acknowledged)
        audit = server.manage("audit_ledger")
        assert audit.returncode == 0, audit.stderr
    assert len(acknowledged.settled) > 50


def _fund(url: str, owners: list[str]) -> int:
    with psycopg.connect(url, autocommit=True) as connection:
        for owner in owners:
            checkout = new_id("txn")
            connection.execute(CHECKOUT, {"id": checkout, "owner": owner, "amount": AMOUNT})
            payment = ledger.take_payment(
                owner=("account", owner), amount_microusd=AMOUNT, source=checkout, lot_id=new_id("crd")
            )
            connection.execute(payment.sql, payment.parameters)
            credit = ledger.grant_credit(
                lot_id=new_id("crd"),
                owner=("account", owner),
                amount_microusd=50_000,
                source_kind="test",
                source_key=new_id("key"),
            )
            connection.execute(credit.sql, credit.parameters)
        version = connection.execute(
            "INSERT INTO billing_price_version (alias, components) VALUES ('fast', %s) RETURNING id",
            [Jsonb({"request": str(COST)})],
        ).fetchone()
    assert version is not None
    return int(version[0])


async def _work_until_crash(server: PrivateServer, owners: list[str], version: int, acknowledged: Acknowledged) -> None:
    workers = [
        asyncio.create_task(_work(server.url, owners[number % len(owners) if number % 2 else 0], version, acknowledged))
        for number in range(WORKERS)
    ]
    await asyncio.sleep(random.uniform(0.4, 0.8))
    await asyncio.to_thread(server.crash)
    await asyncio.gather(*workers)


async def _work(url: str, owner: str, version: int, acknowledged: Acknowledged) -> None:
    """Run calls as a server process does, and note only what was flushed, until the connection breaks."""
    try:
        async with await psycopg.AsyncConnection.connect(url, autocommit=True) as connection:
            while True:
                await _call(connection, owner, new_id("use"), version, acknowledged)
    except psycopg.OperationalError:
        return


async def _call(
    connection: psycopg.AsyncConnection[tuple[object, ...]],
    owner: str,
    usage_id: str,
    version: int,
    acknowledged: Acknowledged,
) -> None:
    acknowledged.tried.add(usage_id)
    held = await ledger.reserve(
        usage_id=usage_id,
        owner=("account", owner),
        actor_did=owner,
        route="chat.completions",
        model="fast",
        hold_microusd=HOLD,
        max_cost_microusd=HOLD,
        price_version=version,
        key=usage_id,
        digest=b"digest",
        flush=False,
    ).on(connection)
    assert held.outcome == "reserved"
    deadline = datetime.now(UTC) + timedelta(minutes=10)
    assert await ledger.dispatch(usage_id=usage_id, deadline=deadline).on(connection)
    acknowledged.sent.add(usage_id)
    settled = await ledger.settle(
        usage_id=usage_id,
        cost_microusd=COST,
        basis="upstream",
        quantities={"output_tokens": 8},
        replay=Replay(200, [], b"answer"),
        flush=False,
    ).on(connection)
    assert settled.outcome == "settled"
    await connection.execute(FLUSH.sql)
    acknowledged.settled.add(usage_id)


def _check(url: str, acknowledged: Acknowledged) -> None:
    """Compare what was promised with what recovered."""
    with psycopg.connect(url) as connection:
        rows = connection.execute("SELECT id, state, charge_microusd FROM billing_reservation").fetchall()
    states = {row[0]: (row[1], row[2]) for row in rows}
    assert set(states) <= acknowledged.tried
    lost = {call for call in acknowledged.sent if states.get(call, ("",))[0] not in ("dispatched", "settled")}
    assert lost == set()
    unpaid = {call for call in acknowledged.settled if states[call] != ("settled", COST)}
    assert unpaid == set()
