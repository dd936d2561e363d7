"""A failover to an asynchronous standby that lacks the last commits: nothing is lost in silence, and no proof serves twice."""

import asyncio
import os
import signal
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from datetime import timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest
from django.db import OperationalError, connection, connections, transaction
from django.utils import timezone

from accounts.models import ReplayEpoch
from billing.operations import closings
from billing.operations.closings import OpenCall
from gateway.core.database import close_pool, commits_wait_sync
from gateway.core.database.replication import Unreplicated
from inference.metering import closing, recovery
from inference.metering.journal import Journal
from tests.factories.billing import Purse, price_version
from tests.faults.nodes import Node, disconnect_django
from tests.support import plain_http
from tests.support.concurrency import PATIENCE_SECONDS, eventually
from tests.support.replicated import Replicated
from tests.support.stage import CHAT, Caller, Stage, chat
from tests.support.stage_fixtures import API_KEY
from tests.support.upstream import FakeUpstream

WAITING = "SELECT pid FROM pg_stat_activity WHERE wait_event = 'SyncRep' AND application_name = %s"
TIMELINE = "SELECT split_part(history, '/', 2)::int FROM accounts_replay_epoch"
OLDER = "The database is not used: it is older than the one used before"


def receipt(caller: Caller, alias: str) -> tuple[str, str, int]:
    """Make a call, and return what its receipt says."""
    answer = caller.post(chat(alias), timeout=30)
    assert answer.status_code == 200, answer.text
    charge = int(answer.headers["x-service-charge-microusd"])
    return answer.headers["x-service-usage-id"], caller.did, charge


@pytest.fixture
def synchronous(pair: Replicated) -> Iterator[Replicated]:
    """Make commits wait for the standby."""
    pair.set(pair.primary, "synchronous_standby_names", "*")
    is_synchronous = "SELECT 1 FROM pg_stat_replication WHERE sync_state = 'sync'"
    eventually(lambda: pair.execute(pair.primary, is_synchronous))
    yield pair
    pair.set(pair.primary, "synchronous_standby_names", "")


def test_a_hold_that_the_standby_may_lack_sends_nothing(
    synchronous: Replicated, upstream: FakeUpstream, tmp_path: Path
) -> None:
    pair = synchronous
    with Node(pair, tmp_path) as node, ThreadPoolExecutor() as threads:
        stage = Stage(node.base_url, upstream, API_KEY)
        alias = stage.model("small-1", max_output_tokens=20)
        patient, cancelled = (stage.caller(balance=100_000) for _ in range(2))
        eventually(lambda: patient.post(chat(alias)).status_code == 200)
        before, sent = patient.wallet, len(upstream.ledger)
        standby = pair.directory(pair.standby)
        pair.kill(pair.standby)

        # Nobody cancels the commit when the client's wait has ended, and no limit of the gateway's does.
        answer = patient.post(chat(alias))
        assert (answer.status_code, answer.json()["error"]["code"]) == (503, "not_ready")
        [pid] = waiting(pair, "gateway-ledger")
        pending = threads.submit(cancelled.post, chat(alias))
        [other] = eventually(lambda: waiting(pair, "gateway-ledger") - {pid})
        cancel(pair, other)
        answer = pending.result()
        assert (answer.status_code, answer.json()["error"]["code"]) == (503, "not_ready")
        eventually(lambda: pid in waiting(pair, "gateway-ledger") and len(waiting(pair, "gateway-ledger")) == 2)
        assert cancelled.only_call.state == "dispatched"  # as long as its release is not on the standby
        assert cancelled.wallet["held"] > 0

        pair.start(pair.standby, standby)
        eventually(lambda: (patient.wallet["held"], cancelled.wallet["held"]) == (0, 0))
        assert (patient.wallet, cancelled.wallet["balance"], len(upstream.ledger)) == (before, 100_000, sent)
        assert node.lost == set()
        stage.client.close()


def test_a_charge_that_the_standby_may_lack_is_not_confirmed(
    synchronous: Replicated, upstream: FakeUpstream, tmp_path: Path
) -> None:
    pair = synchronous
    with Node(pair, tmp_path) as node, ThreadPoolExecutor() as threads:
        stage = Stage(node.base_url, upstream, API_KEY)
        alias = stage.model("small-1", max_output_tokens=20)
        caller = stage.caller(balance=100_000)
        eventually(lambda: caller.post(chat(alias)).status_code == 200)
        with upstream.holding():
            before = len(upstream.ledger)
            pending = threads.submit(caller.post, chat(alias))
            eventually(lambda: len(upstream.ledger) > before)
            standby = pair.directory(pair.standby)
            pair.kill(pair.standby)
            upstream.release()
        [pid] = eventually(lambda: waiting(pair, "gateway-ledger"))
        cancel(pair, pid)
        answer = pending.result()
        assert answer.status_code == 200
        # What is repeated waits for the standby too, though the primary has it.
        eventually(lambda: waiting(pair, "gateway-ledger") - {pid})
        first, charged = caller.calls
        assert (charged.state, charged.charge_microusd) == ("settled", first.charge_microusd)
        pair.start(pair.standby, standby)
        eventually(lambda: not waiting(pair, "gateway-ledger"))
        assert caller.wallet == {"balance": 100_000 - 2 * first.charge_microusd, "held": 0, "debt": 0}
        stage.client.close()


def test_a_hold_is_looked_for_as_long_as_its_commit_waits(
    synchronous: Replicated, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By the process that asked for it, and by those that read the journal of one that died."""
    monkeypatch.setattr(closing, "UNKNOWN_SECONDS", 0)
    monkeypatch.setattr(closing, "PAUSES_SECONDS", (0.05,))
    pair, released = synchronous, set[str]()
    purses = [Purse().pay(1000) for _ in range(2)]
    price_version()
    entry, journal = Journal(tmp_path / "living").begin("use_waits_1"), Journal(tmp_path / "dead")
    journal.begin("use_waits_2")
    journal.close()
    standby = pair.directory(pair.standby)
    pair.kill(pair.standby)

    def hold(purse: Purse, usage_id: str) -> None:
        """Place a hold. Where an earlier test served requests, its client waits for a few seconds only; the commit goes on."""
        try:
            with suppress(OperationalError):
                purse.call(100, usage_id=usage_id)
        finally:
            connections.close_all()

    def look(seconds: float) -> int:
        return recovery.recover(now=begun_at + timedelta(seconds=seconds), folder=tmp_path / "dead")

    async def release() -> None:
        reference = OpenCall(purses[0].owner, "use_waits_1", None)
        await closing._release_unknown(entry, closings.release(reference, resolution="not_sent"))
        released.add("use_waits_1")
        await close_pool()

    with ThreadPoolExecutor() as threads:
        holding = [threads.submit(hold, purse, f"use_waits_{n}") for n, purse in enumerate(purses, 1)]
        try:
            # Others may wait too: what an earlier test has left to be written in the background.
            eventually(lambda: len(waiting(pair, "")) >= 2 and commits_wait_sync())
            begun_at = timezone.now()
            releasing = threads.submit(asyncio.run, release())
            closed = [look(seconds) for seconds in (0, 11, 400, 800)]
            given_up = set(released), len(list((tmp_path / "dead").iterdir()))
        finally:
            pair.start(pair.standby, standby)
        for waited in (*holding, releasing):
            waited.result(PATIENCE_SECONDS)
        assert (closed, given_up) == ([0] * 4, (set(), 1))
        eventually(lambda: not waiting(pair, ""))
        assert look(1200) == 1
    assert [purse.wallet.held_microusd for purse in purses] == [0, 0]
    assert list((tmp_path / "dead").iterdir()) == []


@pytest.fixture
def without_standby(synchronous: Replicated) -> Iterator[Replicated]:
    """Stop the standby that commits wait for, and start it again."""
    standby = synchronous.directory(synchronous.standby)
    synchronous.kill(synchronous.standby)
    yield synchronous
    synchronous.start(synchronous.standby, standby)
    eventually(lambda: not waiting(synchronous, ""))


def test_a_commit_of_django_that_the_standby_may_lack_is_an_error(without_standby: Replicated) -> None:
    pair = without_standby

    def write() -> None:
        try:
            with transaction.atomic():
                ReplayEpoch.objects.update(id=1)
        finally:
            connections.close_all()

    with ThreadPoolExecutor() as threads:
        pending = threads.submit(write)
        [pid] = eventually(lambda: waiting(pair, ""))
        cancel(pair, pid)
        with pytest.raises(OperationalError) as error:
            pending.result()
    assert isinstance(error.value.__cause__, Unreplicated)


def test_an_interruption_does_not_cancel_what_is_being_committed(without_standby: Replicated) -> None:
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background job ignores it
    interrupting = threading.Thread(target=interrupt_when, args=(lambda: waiting(without_standby, ""),))
    interrupting.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            ReplayEpoch.objects.update(id=1)
    finally:
        signal.signal(signal.SIGINT, before)
        interrupting.join()
        connection.close()
    assert waiting(without_standby, "")


def interrupt_when(condition: Any) -> None:
    """Interrupt the main thread once the condition is true, as Ctrl-C does."""
    eventually(condition)
    os.kill(os.getpid(), signal.SIGINT)


def test_a_primary_that_refuses_writes_is_left_for_the_one_that_takes_them(
    pair: Replicated, upstream: FakeUpstream, tmp_path: Path
) -> None:
    with Node(pair, tmp_path) as node:
        stage = Stage(node.base_url, upstream, API_KEY)
        alias = stage.model("small-1", max_output_tokens=20)
        caller = stage.caller(balance=100_000)
        eventually(lambda: caller.post(chat(alias)).status_code == 200)
        assert caller.get("/v1/models").status_code == 200
        pair.catch_up()
        pair.set(pair.primary, "default_transaction_read_only", "on")
        eventually(lambda: node.healthz() == 503)  # and then no server is found that takes writes
        pair.promote()
        # The former primary still runs, and all connections to it are open.
        eventually(lambda: caller.post(chat(alias)).status_code == 200)
        eventually(lambda: node.why() == (200, None))
        eventually(lambda: caller.get("/v1/models").status_code == 200)
        ours = "SELECT count(*) FROM pg_stat_activity WHERE application_name LIKE 'gateway-%%' AND datname = %s"
        eventually(lambda: pair.execute(pair.primary, ours, "gateway") == [(0,)])
        stage.client.close()
    disconnect_django()
    pair.follow()


def test_a_former_primary_that_still_takes_writes_is_left_when_its_commits_wait(
    synchronous: Replicated, upstream: FakeUpstream, tmp_path: Path
) -> None:
    """Nobody fenced it, and it is the first of the hosts, as when the program that watches it has died."""
    pair = synchronous
    with Node(pair, tmp_path) as node:
        stage = Stage(node.base_url, upstream, API_KEY)
        alias = stage.model("small-1", max_output_tokens=20)
        caller = stage.caller(balance=100_000)
        eventually(lambda: caller.post(chat(alias)).status_code == 200)
        taken = "SELECT count(*), max(closed_at) FROM billing_reservation"
        before = pair.execute(pair.primary, taken)
        pair.promote()  # commits on the former primary wait from now on
        eventually(lambda: caller.post(chat(alias), timeout=30).status_code == 401)  # by the new one
        pair.execute(pair.standby, "UPDATE accounts_replay_epoch SET lost_until = NULL")
        eventually(lambda: caller.post(chat(alias)).status_code == 200)
        eventually(lambda: node.why() == (200, None))
        assert pair.execute(pair.primary, taken) == before
        stage.client.close()
    disconnect_django()
    pair.follow()


def test_a_failover_that_loses_commits(pair: Replicated, upstream: FakeUpstream, tmp_path: Path) -> None:
    upstream.reset()
    with ExitStack() as nodes:
        one, other, idle = (nodes.enter_context(Node(pair, tmp_path / name)) for name in ("one", "other", "idle"))
        stage = Stage(one.base_url, upstream, API_KEY)
        # A call is held for as long as the failover takes.
        patient = stage.upstream_row(timeout_seconds=PATIENCE_SECONDS)
        alias = stage.model("small-1", max_output_tokens=20, upstream=patient)
        payers = [stage.caller(balance=100_000) for _ in range(4)]
        payers[1].origin, payers[3].origin = other.base_url, idle.base_url
        for payer in payers[:2]:
            eventually(lambda payer=payer: payer.post(chat(alias)).status_code == 200)  # type: ignore[misc]
        confirmed = {receipt(payer, alias) for payer in payers[:2]}
        eventually(lambda: payers[3].post(chat(alias)).status_code == 200)
        pair.catch_up()
        [(former_timeline,)] = pair.execute(pair.primary, TIMELINE)

        pair.disconnect()
        lost_by_idle = {receipt(payers[3], alias) for _ in range(2)}
        lost = [{receipt(payer, alias) for _ in range(4)} for payer in payers[:2]]
        used = payers[0].headers(CHAT)
        last = payers[0].post(chat(alias), headers=used)
        assert last.status_code == 200
        lost[0].add((last.headers["x-service-usage-id"], payers[0].did, int(last.headers["x-service-charge-microusd"])))
        with ThreadPoolExecutor() as threads, upstream.holding():
            before = len(upstream.ledger)
            pending = threads.submit(payers[2].post, chat(alias), timeout=PATIENCE_SECONDS)
            eventually(lambda: len(upstream.ledger) > before)
            former = pair.directory(pair.primary)
            pair.kill(pair.primary)
            pair.promote()
            eventually(lambda: (one.healthz(), other.healthz()) == (200, 200))

            # Not accepted again, at the node that accepted it or at the other.
            answers = [httpx_post(node, used, alias) for node in (one, other)]
            assert {(answer.status_code, answer.json()["error"]["code"]) for answer in answers} == {
                (401, "invalid_dpop_proof")
            }
            upstream.release()
            assert pending.result().status_code == 200  # delivered; its hold is lost with the former primary
        eventually(lambda: (len(one.lost), len(other.lost)) == (6, 4))
        named = {entry for entry in one.lost if entry[1] != payers[2].did}
        assert (named, other.lost) == (lost[0], lost[1])
        [(usage_id, _, charge)] = one.lost - named
        assert (usage_id, charge > 0) == (pending.result().headers["x-service-usage-id"], True)
        assert not {usage_id for usage_id, _, _ in confirmed} & {usage_id for usage_id, _, _ in one.lost | other.lost}
        eventually(lambda: idle.lost == lost_by_idle)  # though it has got no request since
        recorded = "SELECT usage_id, owner_key, charge_microusd FROM billing_lost_receipt WHERE outcome IS NULL"
        eventually(lambda: set(pair.execute(pair.standby, recorded)) == one.lost | other.lost | idle.lost)
        [(timeline,)] = pair.execute(pair.standby, TIMELINE)
        assert timeline == former_timeline + 1

        # The former primary returns, and the new one is away.
        pair.execute(pair.standby, "UPDATE accounts_replay_epoch SET lost_until = NULL")
        eventually(lambda: payers[0].post(chat(alias)).status_code == 200)
        successor = pair.directory(pair.standby)
        pair.kill(pair.standby)
        pair.start(pair.primary, former)
        calls = pair.execute(pair.primary, "SELECT count(*), max(closed_at) FROM billing_reservation")
        restarted = nodes.enter_context(Node(pair, tmp_path / "one"))
        for node in (one, other, restarted):
            eventually(lambda node=node: node.why() == (503, "older_database") and OLDER in node.log)  # type: ignore[misc]
            refused = httpx_post(node, payers[0].headers(CHAT), alias)
            assert (refused.status_code, refused.json()["error"]["code"]) == (503, "not_ready")
        assert pair.execute(pair.primary, "SELECT count(*), max(closed_at) FROM billing_reservation") == calls

        pair.kill(pair.primary)
        pair.start(pair.standby, successor)
        eventually(lambda: {node.healthz() for node in (one, other, restarted)} == {200})
        eventually(lambda: payers[0].post(chat(alias)).status_code == 200)
        stage.client.close()  # its models went with a database to which Django has no connection any more


def waiting(pair: Replicated, program: str) -> set[int]:
    """Return the server processes of a program whose commits wait for the standby."""
    rows = pair.execute(pair.primary, WAITING, program)
    return {pid for (pid,) in rows}


def cancel(pair: Replicated, pid: int) -> None:
    """Cancel a server process's wait for the standby, as an operator can."""
    pair.execute(pair.primary, "SELECT pg_cancel_backend(%s)", pid)


def httpx_post(node: Node, headers: dict[str, str], alias: str) -> httpx.Response:
    """Send a call with given proof headers and a new idempotency key."""
    sent = {**headers, "Idempotency-Key": f"key-{len(node.log)}-{id(headers)}", "x-service-max-cost-microusd": "100000"}
    return plain_http.request("POST", node.base_url + CHAT, json=chat(alias), headers=sent, timeout=30)
