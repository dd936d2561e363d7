"""The measurement itself, on the suite's servers; `python -m tests.failover` runs it."""

import os
import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from tests.failover.figures import Figures, measured
from tests.failover.load import Attempt, Load
from tests.faults.nodes import Node, disconnect_django
from tests.support import plain_http
from tests.support.concurrency import eventually
from tests.support.replicated import Replicated
from tests.support.stage import Caller, Stage, chat
from tests.support.stage_fixtures import API_KEY
from tests.support.upstream import FakeUpstream

PROMOTIONS = int(os.environ.get("PROMOTIONS", "1"))
BEHIND_SECONDS = float(os.environ.get("BEHIND_SECONDS", "1.5"))
LOAD_SECONDS = 1.0
NAMED_SECONDS = 60.0
CALLERS = 6
BALANCE = 1_000_000_000
PROOFS = 5
"""How many of the proofs that were used last are sent again, at each process."""

IS_SYNCHRONOUS = "SELECT 1 FROM pg_stat_replication WHERE sync_state = 'sync'"
OPEN = "SELECT 1 FROM billing_reservation WHERE actor_did = ANY(%s) AND state NOT IN ('settled', 'released')"
CHARGES = "SELECT id, charge_microusd FROM billing_reservation WHERE state = 'settled' AND id = ANY(%s)"
CHARGED = """
SELECT actor_did, sum(charge_microusd)::bigint FROM billing_reservation
 WHERE state = 'settled' AND actor_did = ANY(%s) GROUP BY actor_did
"""
RECORDED = "SELECT usage_id, owner_key, charge_microusd FROM billing_lost_receipt WHERE usage_id = ANY(%s)"
NAMED_WRONGLY = """
SELECT count(*) FROM billing_lost_receipt l JOIN billing_reservation r ON r.id = l.usage_id AND r.state = 'settled'
"""
TAKEN = """
SELECT (SELECT count(*) FROM billing_reservation), (SELECT max(closed_at) FROM billing_reservation),
       (SELECT max(expires_at) FROM accounts_proof_replay)
"""


@dataclass
class World:
    """The servers, two nodes of the gateway, and callers at both."""

    pair: Replicated
    nodes: list[Node]
    callers: list[Caller]
    alias: str

    @property
    def dids(self) -> list[str]:
        """Return the callers' ids."""
        return [caller.did for caller in self.callers]


@pytest.fixture
def world(pair: Replicated, upstream: FakeUpstream, tmp_path: Path) -> Iterator[World]:
    with world_on(pair, upstream, tmp_path) as world:
        yield world


@contextmanager
def world_on(pair: Replicated, upstream: FakeUpstream, folder: Path) -> Iterator[World]:
    """Run the nodes on these servers, and make sure that all callers can call."""
    with ExitStack() as running:
        nodes = [running.enter_context(Node(pair, folder / str(number))) for number in range(2)]
        stage = Stage(nodes[0].base_url, upstream, API_KEY)
        alias = stage.model("small-1", max_output_tokens=20)
        callers = [stage.caller(balance=BALANCE) for _ in range(CALLERS)]
        for number, caller in enumerate(callers):
            caller.origin = nodes[number % 2].base_url
            eventually(lambda caller=caller: caller.post(chat(alias)).status_code == 200)  # type: ignore[misc]
        yield World(pair, nodes, callers, alias)
        stage.client.close()


def test_synchronous(world: World) -> None:
    pair, figures = world.pair, measured.setdefault("synchronous", Figures(may_lose=False))
    for _ in range(PROMOTIONS):
        pair.catch_up()
        pair.set(pair.primary, "synchronous_standby_names", "*")
        eventually(lambda: pair.execute(pair.primary, IS_SYNCHRONOUS))
        with Load(world.callers, world.alias) as load:
            time.sleep(LOAD_SECONDS)
            fail_over(world, load, figures)
        compare(world, load, figures)
        pair.follow()
    assert figures.violations() == []


def test_asynchronous(world: World) -> None:
    name = f"asynchronous, {BEHIND_SECONDS:g} s behind"
    pair, figures = world.pair, measured.setdefault(name, Figures(may_lose=True))
    for _ in range(PROMOTIONS):
        pair.catch_up()
        former = pair.directory(pair.primary)
        with Load(world.callers, world.alias) as load:
            time.sleep(LOAD_SECONDS)
            pair.disconnect()
            time.sleep(BEHIND_SECONDS)
            fail_over(world, load, figures)
        compare(world, load, figures)
        run_beside(world, former, figures)
        pair.follow()
    assert figures.violations() == []


def fail_over(world: World, load: Load, figures: Figures) -> None:
    """Kill the primary and promote the standby under load; measure until the calls of all callers pass."""
    pair = world.pair
    pair.kill(pair.primary)
    used = load.receipts[-PROOFS:]
    pair.promote()
    promoted_at = time.monotonic()
    for node in world.nodes:
        eventually(lambda node=node: is_ready(node))  # type: ignore[misc]
        figures.ready_seconds.append(time.monotonic() - promoted_at)
    use_again(world, used, figures)
    eventually(lambda: load.answered_since(promoted_at).keys() == set(world.dids))
    use_again(world, used, figures)
    figures.promotions += 1
    figures.passing_seconds += first_of_each(world, load.answered_since(promoted_at), promoted_at)
    failed = [one for one in load.attempts if one.began_at > promoted_at and one.status not in {200, 401, 409}]
    figures.failing_seconds += [one.ended_at - promoted_at for one in failed]


def is_ready(node: Node) -> bool:
    """Return whether a process says so. The client is a light one: this process makes the load, too."""
    with plain_http.client(timeout=30) as client:
        return client.get(f"{node.base_url}/readyz").status_code == 200


def first_of_each(world: World, answered: dict[str, float], since: float) -> list[float]:
    """Return for each process when the last of its callers had an answer again."""
    origins = {caller.did: caller.origin for caller in world.callers}
    latest: defaultdict[str, float] = defaultdict(float)
    for did, at in answered.items():
        latest[origins[did]] = max(latest[origins[did]], at - since)
    return list(latest.values())


def use_again(world: World, used: list[Attempt], figures: Figures) -> None:
    """Send new requests with proofs that were used before, to both processes."""
    for attempt in used:
        for node in world.nodes:
            thief = replace(attempt.caller, origin=node.base_url)
            answer = eventually(lambda thief=thief, attempt=attempt: answer_to(thief, world.alias, attempt.headers))  # type: ignore[misc]
            figures.proofs_used_again += 1
            figures.accepted_twice += answer != 401


def answer_to(caller: Caller, alias: str, headers: dict[str, str]) -> int:
    """Return the status of a call with these headers, 0 while the process is not ready."""
    status = caller.post(chat(alias), headers=headers, timeout=30).status_code
    return 0 if status == 503 else status


def compare(world: World, load: Load, figures: Figures) -> None:
    """Compare every receipt with the new primary, once all calls are closed there."""
    pair = world.pair
    disconnect_django()
    eventually(lambda: not pair.execute(pair.standby, OPEN, world.dids))
    eventually(lambda: all(caller.wallet["held"] == 0 for caller in world.callers))
    receipts = load.receipts
    charges = dict(pair.execute(pair.standby, CHARGES, [one.usage_id for one in receipts]))
    lost = {named(one) for one in receipts if one.usage_id not in charges}
    with suppress(AssertionError):  # what is not named by then is a violation, with its figure
        eventually(lambda: recorded(world, lost) == lost and logged(world) >= lost, seconds=NAMED_SECONDS)
    figures.receipts += len(receipts)
    figures.streams += sum(one.is_stream for one in receipts)
    figures.untrue += sum(charges.get(one.usage_id, one.charge_microusd) != one.charge_microusd for one in receipts)
    figures.lost += len(lost)
    figures.recorded += len(recorded(world, lost) & lost)
    figures.logged += len(logged(world) & lost)
    [(wrongly,)] = pair.execute(pair.standby, NAMED_WRONGLY)
    figures.named_wrongly += wrongly
    figures.answers.update(one.status for one in load.attempts)
    compare_keys(receipts, charges, figures)
    compare_wallets(world, figures)


def compare_keys(receipts: list[Attempt], charges: dict[str, int], figures: Figures) -> None:
    """Count keys with several receipts, and those of them for which several calls are charged."""
    of_key: defaultdict[str, list[str]] = defaultdict(list)
    for one in receipts:
        of_key[one.key].append(one.usage_id)
    figures.repeated += sum(len(calls) - 1 for calls in of_key.values())
    figures.charged_twice += sum(len(charges.keys() & set(calls)) > 1 for calls in of_key.values())


def compare_wallets(world: World, figures: Figures) -> None:
    """Sum by how much each caller has paid another amount than its calls cost."""
    charged = dict(world.pair.execute(world.pair.standby, CHARGED, world.dids))
    for caller in world.callers:
        paid = BALANCE - caller.wallet["balance"] + caller.wallet["debt"]
        figures.drift_microusd += abs(paid - charged[caller.did])


def run_beside(world: World, former: Path, figures: Figures) -> None:
    """Start the former primary, which nobody fenced, and count what it gets under load."""
    pair = world.pair
    pair.start(pair.primary, former)
    before = pair.execute(pair.primary, TAKEN)
    with Load(world.callers, world.alias) as load:
        time.sleep(LOAD_SECONDS)
    [(calls_before, *others_before)], [(calls, *others)] = before, pair.execute(pair.primary, TAKEN)
    figures.on_former += max(calls - calls_before, int(others != others_before))
    figures.answers_beside_former.update(one.status for one in load.attempts)


def named(receipt: Attempt) -> tuple[str, str, int]:
    """Return a receipt as it is named when it is lost."""
    assert receipt.charge_microusd is not None
    return receipt.usage_id, receipt.caller.did, receipt.charge_microusd


def recorded(world: World, lost: set[tuple[str, str, int]]) -> set[tuple[str, str, int]]:
    """Return those of these calls that operators are shown, as they are shown."""
    rows = world.pair.execute(world.pair.standby, RECORDED, [usage_id for usage_id, _, _ in lost])
    return {(usage_id, owner_key, charge) for usage_id, owner_key, charge in rows}


def logged(world: World) -> set[tuple[str, str, int]]:
    """Return the calls that the processes have named as lost in their logs."""
    return {call for node in world.nodes for call in node.lost}
