"""Real connections at once: nothing is spent twice, nothing deadlocks, and the audit is clean afterwards."""

import asyncio
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from datetime import timedelta
from typing import Any

import psycopg
import pytest
from django.db import connection as django_connection
from django.db import transaction
from django.utils import timezone

from billing.models import Budget, CreditLot, Reservation, Transfer, Wallet
from billing.operations import budgets, ledger
from billing.queries.wallets import WalletView
from gateway.contract.ids import new_id
from tests.billing.conftest import unsound
from tests.billing.parallel import at_once, conninfo, one_after_another_at_once
from tests.factories.billing import Purse, price_version, state, used_for

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def _audited(transactional_db: None) -> Iterator[None]:
    yield
    assert unsound() == []


def outcomes(results: list[Any]) -> Counter[str]:
    return Counter(str(result.outcome) for result in results)


def settlement(usage_id: str, cost: int) -> Any:
    return ledger.settle(usage_id=usage_id, cost_microusd=cost, basis="upstream", quantities=used_for(cost))


@pytest.mark.parametrize(("cash", "credit"), [(1000, 0), (0, 1000), (550, 450)])
def test_fifty_holds_at_once_admit_exactly_the_ten_that_are_paid_for(cash: int, credit: int) -> None:
    purse = Purse()
    if cash:
        purse.pay(cash)
    if credit:
        purse.grant(credit)
    held = at_once(*(purse.reservation(100) for _ in range(50)))
    assert outcomes(held) == {"reserved": 10, "insufficient_funds": 40}
    assert purse.wallet.held_microusd == 1000
    assert purse.wallet.available_microusd == 0


def test_holds_at_once_on_an_owner_without_a_wallet_open_one() -> None:
    purse, version = Purse(), price_version()
    held = at_once(*(purse.reservation(1, price_version=version) for _ in range(20)))
    assert outcomes(held) == {"insufficient_funds": 20}
    assert Wallet.objects.count() == 1


def test_the_same_key_at_once_holds_once() -> None:
    purse = Purse().pay(1000)
    held = at_once(*(purse.reservation(10, "k") for _ in range(20)))
    assert outcomes(held) == {"reserved": 1, "in_progress": 19}
    assert len({result.usage_id for result in held}) == 1
    assert purse.wallet.held_microusd == 10


def test_the_same_free_again_key_at_once_holds_once() -> None:
    purse = Purse().pay(1000)
    call = purse.call(10, "k")
    ledger.settle(
        usage_id=call,
        cost_microusd=5,
        basis="upstream",
        quantities=used_for(5),
        now=timezone.now() - timedelta(hours=24),
    ).run()
    held = at_once(*(purse.reservation(10, "k") for _ in range(20)))
    assert outcomes(held) == {"reserved": 1, "in_progress": 19}


def test_dispatch_and_reaper_at_once_leave_one_winner() -> None:
    purse = Purse().pay(10_000)
    for _ in range(10):
        call = purse.reserve(10, now=timezone.now() - timedelta(seconds=61)).usage_id or ""
        sent, _ = one_after_another_at_once(
            [ledger.dispatch(usage_id=call, deadline=timezone.now() + timedelta(minutes=1))], [_reap()]
        )
        assert state(call) == ("dispatched" if sent[0] else "released")


def _reap() -> Any:
    statement = ledger.reap()
    return ledger.Statement(statement.sql, statement.parameters, lambda row: row)


def test_settle_release_review_and_reap_at_once_leave_one_winner() -> None:
    purse, spent = Purse().pay(100_000), 0
    for _ in range(20):
        call = purse.call(50)
        Reservation.objects.filter(pk=call).update(deadline_at=timezone.now())
        settled, released, reviewed, again, _ = at_once(
            settlement(call, 30),
            ledger.release(usage_id=call),
            ledger.to_review(usage_id=call, reason="upstream_timeout"),
            settlement(call, 40),
            _reap(),
        )
        final = state(call)
        wins = [settled.outcome == "settled", again.outcome == "settled", released.outcome == "released"]
        assert sum(wins) == 1, (settled, again, released, reviewed)
        assert final == ("released" if wins[2] else "settled")
        spent += 30 if wins[0] else 40 if wins[1] else 0
    assert purse.wallet == WalletView(100_000 - spent, 0, 0, 100_000 - spent, 0, ())


def test_two_budgets_at_once_admit_what_the_tighter_one_allows() -> None:
    org = Purse("organization", "org_acme").pay(10_000)
    now = timezone.now()
    wide = budgets.put(org.key, limit_microusd=70, now=now)
    tight = budgets.put(org.key, limit_microusd=50, product="studio", now=now)
    held = at_once(*(org.reservation(10, product="studio" if i % 2 else None) for i in range(40)))
    admitted = [result.usage_id for result in held if result.outcome == "reserved"]
    studio = Reservation.objects.filter(pk__in=admitted, product="studio").count()
    assert len(admitted) == 7
    assert studio <= 5
    for budget, total in ((wide, 70), (tight, 10 * studio)):
        budget.refresh_from_db()
        assert budget.held_microusd == total


def test_a_budget_set_while_calls_settle_misses_none() -> None:
    org = Purse("organization", "org_acme").pay(100_000)
    calls = [org.call(10) for _ in range(30)]
    later = [[settlement(call, 7)] for call in calls]
    holds = [[org.reservation(5)] for _ in range(10)]
    results: list[Budget] = []

    class Put:
        """Sets the budget on Django's connection, in between the others."""

        async def on(self, connection: Any) -> None:
            await asyncio.to_thread(self.put)

        def put(self) -> None:
            results.append(budgets.put(org.key, limit_microusd=10_000, now=timezone.now()))
            django_connection.close()

    one_after_another_at_once(*later[:15], [Put()], *holds, *later[15:])  # type: ignore[list-item]
    results[0].refresh_from_db()
    assert (results[0].spent_microusd, results[0].held_microusd) == (210, 50)


def test_a_credit_that_expires_while_calls_come_in_is_neither_overspent_nor_lost() -> None:
    purse = Purse()
    expiry = timezone.now() + timedelta(milliseconds=60)
    lot = purse.grant(10_000, expires_at=expiry)
    version = price_version()
    lanes = [[purse.reservation(10, price_version=version) for _ in range(15)] for _ in range(8)]
    sweep = ledger.sweep_lots()
    sweeps = [ledger.Statement(sweep.sql, sweep.parameters, lambda row: row)] * 40
    *results, _ = one_after_another_at_once(*lanes, sweeps)
    held = [hold for lane in results for hold in lane if hold.outcome == "reserved"]
    assert all(Reservation.objects.get(pk=hold.usage_id).created_at < expiry for hold in held), "held after its expiry"
    ledger.sweep_lots(now=timezone.now() + timedelta(seconds=1)).rows()
    assert CreditLot.objects.get(pk=lot).remaining_microusd == 10 * len(held)


def test_a_payment_confirmed_many_times_at_once_is_credited_once() -> None:
    purse = Purse()
    payment = {"owner": purse.owner, "amount_microusd": 500, "source": "txn_1"}
    paid = at_once(*(ledger.take_payment(**payment, lot_id=new_id("crd")) for _ in range(15)))  # type: ignore[arg-type]
    assert outcomes(paid) == {"credited": 1, "already": 14}
    assert purse.wallet.balance_microusd == 500


def test_a_grant_made_many_times_at_once_is_granted_once() -> None:
    purse = Purse()
    grant = {"owner": purse.owner, "amount_microusd": 500, "source_kind": "config", "source_key": "welcome"}
    granted = at_once(*(ledger.grant_credit(**grant, lot_id=new_id("crd")) for _ in range(15)))  # type: ignore[arg-type]
    assert outcomes(granted) == {"granted": 1, "already": 14}
    assert Transfer.objects.count() == 1


def test_everything_at_once_over_several_wallets_ends_without_deadlock() -> None:
    purses = [Purse("organization", f"org_{number}").pay(100_000) for number in range(4)]
    now = timezone.now()
    for purse in purses:
        purse.grant(300, expires_at=now + timedelta(milliseconds=300))
        budgets.put(purse.key, limit_microusd=90_000, now=now)
        for _ in range(5):
            purse.reserve(10, now=now - timedelta(minutes=2))
    overdue = [purse.call(10) for purse in purses for _ in range(5)]
    Reservation.objects.filter(pk__in=overdue).update(deadline_at=now)

    def lane(purse: Purse) -> list[Any]:
        made: list[Any] = []
        for _ in range(8):
            usage_id = new_id("use")
            made += [
                purse.reservation(50, usage_id=usage_id),
                ledger.dispatch(usage_id=usage_id, deadline=now + timedelta(minutes=1)),
                settlement(usage_id, 20),
            ]
        return made

    sweep = ledger.sweep_lots()
    jobs = [ledger.Statement(sweep.sql, sweep.parameters, lambda row: row), _reap()] * 8
    results = one_after_another_at_once(
        *(lane(purse) for purse in purses for _ in range(4)), jobs, jobs, [settlement(call, 5) for call in overdue]
    )
    settled = [result for made in results[:16] for result in made[2::3]]
    assert outcomes(settled) == {"settled": 128}
    assert Reservation.objects.filter(state="settled", charge_microusd=20).count() == 128
    assert not Reservation.objects.filter(pk__in=overdue).exclude(state="settled").exists()


@pytest.mark.parametrize("in_a_transaction", [False, True])
def test_calls_go_on_while_an_organizations_first_budget_adds_its_month_up(in_a_transaction: bool) -> None:
    """The month's charges are kept from being read for a while, as if there were very many."""
    org = Purse("organization", "org_acme").pay(100_000)
    before = timezone.now() - timedelta(seconds=10)
    for now in (before, before, timezone.now()):
        ledger.settle(
            usage_id=org.call(10, now=now), cost_microusd=7, basis="upstream", quantities=used_for(7), now=now
        ).run()
    kept, given_up = org.call(20, now=before), org.call(30, now=before)

    def put() -> Budget:
        try:
            with transaction.atomic() if in_a_transaction else nullcontext():
                return budgets.put(org.key, limit_microusd=10_000, now=before)
        finally:
            django_connection.close()

    with ThreadPoolExecutor(1) as pool, psycopg.connect(conninfo()) as reader:
        reader.execute("LOCK TABLE billing_transfer IN ACCESS EXCLUSIVE MODE")
        putting = pool.submit(put)
        _wait_until(lambda: _waits_for("billing_transfer"))
        held = _impatiently(org.reservation(40), ledger.release(usage_id=given_up))
        reader.rollback()
        budget = putting.result()
    assert held == ["reserved", "released"]
    assert (budget.spent_microusd, budget.held_microusd) == (21, 60)
    settlement(kept, 9).run()
    budget.refresh_from_db()
    assert (budget.spent_microusd, budget.held_microusd) == (30, 40)


def _impatiently(*statements: Any) -> list[str]:
    """Run statements on a connection that waits for no lock long, and give their outcomes."""
    with psycopg.connect(conninfo(), autocommit=True, options="-c lock_timeout=10s") as caller:
        return [
            str(statement.read(caller.execute(statement.sql, statement.parameters).fetchone()).outcome)
            for statement in statements
        ]


def _wait_until(condition: Callable[[], bool]) -> None:
    until = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < until
        time.sleep(0.01)


def _waits_for(table: str) -> bool:
    with django_connection.cursor() as cursor:
        cursor.execute("SELECT FROM pg_locks WHERE NOT granted AND relation = %s::regclass", [table])
        return bool(cursor.fetchall())
