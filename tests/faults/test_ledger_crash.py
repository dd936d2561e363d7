"""A process killed between any two statements, or within one, leaves a ledger from which every call is resolved once."""

import sys
from datetime import timedelta

import pytest
from django.utils import timezone

from billing.models import Call
from billing.operations import ledger, reviews
from billing.queries import audit
from gateway.core.contract.ids import new_id
from tests.factories import batches, payers
from tests.factories.billing import Purse, price_version, state
from tests.factories.payers import Payer
from tests.faults.ledger_steps import COST, HOLD, NOTED, POINTS, SESSION
from tests.support.concurrency import eventually
from tests.support.database import connect, database_url
from tests.support.forked import run

pytestmark = pytest.mark.django_db(transaction=True)

# State and charge of a call after the reaper and reconciliation, by the last step of its process.
RESOLVED: dict[str, tuple[str | None, int | None]] = {
    "connect": (None, None),
    "open": ("review", None),
    "check_in": ("settled", NOTED),
    "settle": ("settled", COST),
}
STEPS = list(RESOLVED)
SESSIONS = "SELECT 1 FROM pg_stat_activity WHERE application_name = %s AND datname = current_database()"


def possible_ends(point: str) -> list[tuple[str | None, int | None]]:
    """Return a call's possible ends. If it was killed during a step, the step's transaction may be committed or not."""
    when, _, step = point.partition(":")
    first = STEPS.index(step) - (when == "during")
    return [RESOLVED[name] for name in STEPS[first : STEPS.index(step) + 1]]


def kill_calls(purse: Purse, calls: dict[str, str]) -> None:
    """Kill a process for each call, and wait until the server has ended what they had sent."""
    arguments = [part for pair in calls.items() for part in pair]
    run(
        [
            sys.executable,
            "-m",
            "tests.faults.ledger_steps",
            database_url(),
            purse.key,
            str(price_version()),
            *arguments,
        ],
        check=True,
    )
    with connect(autocommit=True) as server:
        eventually(lambda: server.execute(SESSIONS, [SESSION]).fetchone() is None)


def settle_down() -> None:
    """Run the jobs at a time after all deadlines."""
    later = timezone.now() + timedelta(minutes=10)
    ledger.reap(now=later).rows()
    reviews.reconcile(now=later)


def ends(calls: dict[str, str]) -> dict[str, tuple[str | None, int | None]]:
    rows = {row.pk: (row.state, row.charge_microusd) for row in Call.objects.filter(pk__in=calls)}
    return {point: rows.get(usage_id, (None, None)) for usage_id, point in calls.items()}


def repeated(payer: Payer, calls: dict[str, str]) -> list[str]:
    """Repeat the calls, with their keys and bodies, and return the outcomes."""
    again = [
        batches.opening(**payer.members, hold=HOLD, key=call, usage_id=new_id("use"), price_version=price_version())
        for call in calls
    ]
    return [str(batches.run(element)[0].outcome) for element in again]


def test_a_call_killed_at_any_point_is_resolved_once() -> None:
    purse = payers.account().purse.pay(100_000)
    calls = {new_id("use"): point for point in POINTS}
    kill_calls(purse, calls)
    settle_down()
    resolved = ends(calls)
    assert {point: end for point, end in resolved.items() if end not in possible_ends(point)} == {}
    charged = sum(charge or 0 for _, charge in resolved.values())
    waiting = HOLD * sum(1 for final, _ in resolved.values() if final == "review")
    wallet = purse.wallet
    assert (wallet.balance_microusd, wallet.held_microusd) == (100_000 - charged, waiting)
    assert audit.findings() == []


def test_an_open_call_of_a_dead_process_is_not_run_again() -> None:
    payer = payers.account()
    payer.purse.pay(100_000)
    calls = {new_id("use"): f"after:{step}" for step in ("open", "check_in", "settle")}
    kill_calls(payer.purse, calls)
    assert repeated(payer, calls) == ["in_progress", "in_progress", "replay"]
    settle_down()
    assert repeated(payer, calls) == ["in_progress", "gone", "replay"]
    [waiting, *_] = calls
    assert reviews.release(waiting)
    assert repeated(payer, {waiting: ""}) == ["reserved"]
    assert Call.objects.filter(state="settled").count() == 2
    assert audit.findings() == []


def test_the_operator_resolves_calls_without_evidence() -> None:
    purse = payers.account().purse.pay(1000)
    calls = {new_id("use"): "after:open"}
    kill_calls(purse, calls)
    settle_down()
    [usage_id] = calls
    assert state(usage_id) == "review"
    assert reviews.charge(usage_id, cost_microusd=30)
    assert not reviews.charge(usage_id, cost_microusd=30)
    assert purse.wallet.balance_microusd == 970
    assert audit.findings() == []
