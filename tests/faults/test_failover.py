"""A failover to an asynchronous standby that lacks the last commits: nothing is lost in silence, and no proof serves twice."""

import re
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import httpx
import pytest
from django.db import connection

from tests.support.concurrency import PATIENCE_SECONDS, eventually
from tests.support.processes import ServerProcess
from tests.support.replicated import Replicated
from tests.support.stage import CHAT, Caller, Stage, chat
from tests.support.stage_fixtures import API_KEY
from tests.support.upstream import FakeUpstream

LOST = re.compile(r"(use_\w+): the database lost this call of account (\S+), charged (\d+) micro-USD")
OLDER = "The database is not used: it is older than the one used before"


@pytest.fixture(scope="module")
def pair(django_db_setup: None, django_db_blocker: Any) -> Iterator[Replicated]:
    """Run the two servers, and make Django use whichever is the primary."""
    with django_db_blocker.unblock(), Replicated() as pair:
        at, connect = connection.settings_dict, dict(connection.settings_dict)
        _disconnect()
        at |= {"HOST": "127.0.0.1,127.0.0.1", "PORT": f"{pair.primary},{pair.standby}", "NAME": "gateway"}
        at |= {"USER": "gateway", "PASSWORD": pair.password}
        at["OPTIONS"] = {**at["OPTIONS"], "target_session_attrs": "read-write"}
        try:
            yield pair
        finally:
            _disconnect()
            at.update(connect)


def _disconnect() -> None:
    """Make Django connect again, with the settings as they are then."""
    wrapper: Any = connection
    wrapper.close()
    wrapper.close_pool()


class Node(ServerProcess):
    """A server with a data directory of its own, as on a machine of its own."""

    def __init__(self, pair: Replicated, data_dir: Path) -> None:
        super().__init__(settings={"DATABASE_URL": pair.url, "DJANGO_SETTINGS_MODULE": "gateway.settings.test"})
        self.settings["DATA_DIR"] = str(data_dir)
        self.settings["PORT"] = str(self.port)
        self.command = (sys.executable, "-m", "tests.faults.crashing_server")

    @property
    def lost(self) -> set[tuple[str, str, int]]:
        """Return the calls that it has named as lost: id, account and charge."""
        return {(usage_id, did, int(charge)) for usage_id, did, charge in LOST.findall(self.log)}

    def healthz(self) -> int:
        """Return the status of GET /healthz."""
        return httpx.get(f"{self.base_url}/healthz", timeout=30).status_code


def receipt(caller: Caller, alias: str) -> tuple[str, str, int]:
    """Make a call, and return what its receipt says."""
    answer = caller.post(chat(alias), timeout=30)
    assert answer.status_code == 200, answer.text
    charge = int(answer.headers["x-service-charge-microusd"])
    return answer.headers["x-service-usage-id"], caller.did, charge


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
        [(history,)] = pair.execute(pair.standby, "SELECT split_part(history, '/', 2) FROM accounts_replay_epoch")
        assert history == "00000002"

        # The former primary returns, and the new one is away.
        pair.execute(pair.standby, "UPDATE accounts_replay_epoch SET lost_until = NULL")
        eventually(lambda: payers[0].post(chat(alias)).status_code == 200)
        successor = pair.directory(pair.standby)
        pair.kill(pair.standby)
        pair.start(pair.primary, former)
        calls = pair.execute(pair.primary, "SELECT count(*), max(closed_at) FROM billing_reservation")
        restarted = nodes.enter_context(Node(pair, tmp_path / "one"))
        for node in (one, other, restarted):
            eventually(lambda node=node: node.healthz() == 503 and OLDER in node.log)  # type: ignore[misc]
            refused = httpx_post(node, payers[0].headers(CHAT), alias)
            assert (refused.status_code, refused.json()["error"]["code"]) == (503, "not_ready")
        assert pair.execute(pair.primary, "SELECT count(*), max(closed_at) FROM billing_reservation") == calls

        pair.kill(pair.primary)
        pair.start(pair.standby, successor)
        eventually(lambda: {node.healthz() for node in (one, other, restarted)} == {200})
        eventually(lambda: payers[0].post(chat(alias)).status_code == 200)
        stage.client.close()  # its models went with a database to which Django has no connection any more


def httpx_post(node: Node, headers: dict[str, str], alias: str) -> httpx.Response:
    """Send a call with given proof headers and a new idempotency key."""
    sent = {**headers, "Idempotency-Key": f"key-{len(node.log)}-{id(headers)}", "x-service-max-cost-microusd": "100000"}
    return httpx.post(node.base_url + CHAT, json=chat(alias), headers=sent, timeout=30)
