"""Real connections at once: nothing is spent twice, nothing deadlocks, and the audit is clean afterwards."""

import random
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from datetime import timedelta
from typing import Any

import orjson
import pytest
from django.db import connection as django_connection
from django.db import transaction
from django.db.models import Sum
from django.utils import timezone

from billing.models import Budget, Call, CreditLot, LimitUse, Transfer, Wallet
from billing.operations import budgets, ledger
from billing.operations.statement import Statement
from billing.queries.wallets import WalletBalance
from billing.rules.budgets import Subject
from gateway.core.contract.ids import new_id
from gateway.core.database import Element
from tests.billing.conftest import unsound
from tests.billing.parallel import lanes_at_once, statements_at_once
from tests.factories import payers
from tests.factories.batches import OPEN, read, statement
from tests.factories.billing import Purse, settle, state, used_for
from tests.factories.payers import Payer
from tests.support.concurrency import eventually
from tests.support.database import connect

pytestmark = pytest.mark.django_db(transaction=True)

APP = "https://app.example"


@pytest.fixture(autouse=True)
def _audited(transactional_db: None) -> Iterator[None]:
    yield
    assert unsound() == []


def outcomes(results: list[Any]) -> Counter[str]:
    return Counter(str(result.outcome) for result in results)


@pytest.mark.parametrize(("cash", "credit"), [(1000, 0), (0, 1000), (550, 450)])
def test_fifty_holds_at_once_admit_exactly_the_ten_that_are_paid_for(cash: int, credit: int) -> None:
    payer = payers.account()
    if cash:
        payer.purse.pay(cash)
    if credit:
        payer.purse.grant(credit)
    held = statements_at_once(*(payer.opening(100) for _ in range(50)))
    assert outcomes(held) == {"reserved": 10, "insufficient_funds": 40}
    assert payer.purse.wallet.held_microusd == 1000
    assert payer.purse.wallet.available_microusd == 0


def test_holds_at_once_on_an_owner_without_a_wallet_open_one() -> None:
    payer = payers.account()
    held = statements_at_once(*(payer.opening(1) for _ in range(20)))
    assert outcomes(held) == {"insufficient_funds": 20}
    assert Wallet.objects.count() == 1


def test_the_same_key_at_once_holds_once() -> None:
    payer = payers.account()
    payer.purse.pay(1000)
    held = statements_at_once(*(payer.opening(10, "k") for _ in range(20)))
    assert outcomes(held) == {"reserved": 1, "in_progress": 19}
    assert len({result.usage_id for result in held}) == 1
    assert payer.purse.wallet.held_microusd == 10


def test_the_same_proof_at_once_serves_once() -> None:
    payer = payers.account()
    payer.purse.pay(1000)
    calls = [orjson.loads(payer.opening(10).arguments) | {"proof": "aa"} for _ in range(20)]
    once = [
        Element(OPEN, payer.purse.owner, orjson.dumps(call), lambda answer, body: answer["admission"]) for call in calls
    ]
    assert Counter(statements_at_once(*once)) == {"ok": 1, "replayed": 19}
    assert payer.purse.wallet.held_microusd == 10


def test_the_same_free_again_key_at_once_holds_once() -> None:
    payer = payers.account()
    call = payer.purse.pay(1000).call(10, "k")
    settle(call, 5, now=timezone.now() - timedelta(hours=24))
    held = statements_at_once(*(payer.opening(10, "k") for _ in range(20)))
    assert outcomes(held) == {"reserved": 1, "in_progress": 19}


def test_a_check_in_and_the_reaper_at_once_leave_one_winner() -> None:
    payer = payers.account()
    payer.purse.pay(10_000)
    for _ in range(10):
        call = payer.purse.call(10, deadline_seconds=0)
        noted, _ = statements_at_once(payer.check_in(call, {"charge_microusd": 1}), _reap())
        reaped = Call.objects.get(pk=call)
        assert (noted, reaped.state) in (("ok", "dispatched"), ("closed", "review"))
        assert (reaped.evidence is None) == (noted == "closed")


def _reap() -> Any:
    statement = ledger.reap()
    return ledger.Statement(statement.sql, statement.parameters, lambda row: row)


def test_settle_release_review_and_reap_at_once_leave_one_winner() -> None:
    payer, spent = payers.account(), 0
    purse = payer.purse.pay(100_000)
    for _ in range(20):
        call = purse.call(50, deadline_seconds=0)
        settled, released, reviewed, again, _ = statements_at_once(
            payer.settlement(call, 30),
            payer.release(call),
            payer.review(call),
            payer.settlement(call, 40),
            _reap(),
        )
        final = state(call)
        wins = [settled.outcome == "settled", again.outcome == "settled", released.outcome == "released"]
        assert sum(wins) == 1, (settled, again, released, reviewed)
        assert final == ("released" if wins[2] else "settled")
        spent += 30 if wins[0] else 40 if wins[1] else 0
    assert purse.wallet == WalletBalance(100_000 - spent, 0, 0, 100_000 - spent, 0, ())


def test_two_budgets_at_once_admit_what_the_tighter_one_allows() -> None:
    payer, now = payers.member(("studio",)), timezone.now()
    org = payer.purse.pay(10_000)
    wide = budgets.put(Subject(org.owner), limit_microusd=70, now=now)
    tight = budgets.put(Subject(org.owner, "studio"), limit_microusd=50, now=now)
    held = statements_at_once(*(payer.opening(10, product="studio" if i % 2 else None) for i in range(40)))
    admitted = [result.usage_id for result in held if result.outcome == "reserved"]
    studio = Call.objects.filter(pk__in=admitted, product="studio").count()
    assert len(admitted) == 7
    assert studio <= 5
    for budget, total in ((wide, 70), (tight, 10 * studio)):
        budget.refresh_from_db()
        assert budget.held_microusd == total


def test_a_budget_set_while_calls_settle_misses_none() -> None:
    payer = payers.member()
    org = payer.purse.pay(100_000)
    calls = [org.call(10) for _ in range(30)]
    later = [[payer.settlement(call, 7)] for call in calls]
    holds = [[payer.opening(5)] for _ in range(10)]

    def put() -> Budget:
        try:
            return budgets.put(Subject(org.owner), limit_microusd=10_000, now=timezone.now())
        finally:
            django_connection.close()

    with ThreadPoolExecutor(1) as pool:
        putting = pool.submit(put)
        lanes_at_once(*later[:15], *holds, *later[15:])
        budget = putting.result()
    budget.refresh_from_db()
    assert (budget.spent_microusd, budget.held_microusd) == (210, 50)


def test_a_credit_that_expires_while_calls_come_in_is_neither_overspent_nor_lost() -> None:
    payer = payers.account()
    expiry = timezone.now() + timedelta(milliseconds=60)
    lot = payer.purse.grant(10_000, expires_at=expiry)
    lanes = [[payer.opening(10) for _ in range(15)] for _ in range(8)]
    sweep = ledger.sweep_lots()
    sweeps = [ledger.Statement(sweep.sql, sweep.parameters, lambda row: row)] * 40
    *results, _ = lanes_at_once(*lanes, sweeps)
    held = [hold for lane in results for hold in lane if hold.outcome == "reserved"]
    assert all(Call.objects.get(pk=hold.usage_id).created_at < expiry for hold in held), "held after its expiry"
    ledger.sweep_lots(now=timezone.now() + timedelta(seconds=1)).rows()
    assert CreditLot.objects.get(pk=lot).remaining_microusd == 10 * len(held)


def test_a_payment_confirmed_many_times_at_once_is_credited_once() -> None:
    purse = Purse()
    payment = {"owner": purse.owner, "amount_microusd": 500, "source": "txn_1"}
    paid = statements_at_once(*(ledger.take_payment(**payment, lot_id=new_id("crd")) for _ in range(15)))  # type: ignore[arg-type]
    assert outcomes(paid) == {"credited": 1, "already": 14}
    assert purse.wallet.balance_microusd == 500


def test_a_grant_made_many_times_at_once_is_granted_once() -> None:
    purse = Purse()
    grant = {"owner": purse.owner, "amount_microusd": 500, "source_kind": "config", "source_key": "welcome"}
    granted = statements_at_once(*(ledger.grant_credit(**grant, lot_id=new_id("crd")) for _ in range(15)))  # type: ignore[arg-type]
    assert outcomes(granted) == {"granted": 1, "already": 14}
    assert Transfer.objects.count() == 1


def test_everything_at_once_over_several_wallets_ends_without_deadlock() -> None:
    people = [payers.member(name=f"founder{number}") for number in range(4)]
    now = timezone.now()
    for payer in people:
        payer.purse.pay(100_000).grant(300, expires_at=now + timedelta(milliseconds=300))
        budgets.put(Subject(payer.purse.owner), limit_microusd=90_000, now=now)
    overdue = [(payer, payer.purse.call(10, deadline_seconds=0)) for payer in people for _ in range(5)]

    def lane(payer: Payer) -> list[Any]:
        made: list[Any] = []
        for _ in range(8):
            usage_id = new_id("use")
            evidence = {**used_for(9), "charge_microusd": 9}
            made += [payer.opening(50, usage_id=usage_id), payer.check_in(usage_id, evidence)]
            made.append(payer.settlement(usage_id, 20))
        return made

    sweep = ledger.sweep_lots()
    jobs = [ledger.Statement(sweep.sql, sweep.parameters, lambda row: row), _reap()] * 8
    late = [payer.settlement(call, 5) for payer, call in overdue]
    results = lanes_at_once(*(lane(payer) for payer in people for _ in range(4)), jobs, jobs, late)
    assert {result for made in results[:16] for result in made[1::3]} == {"ok"}
    assert outcomes([result for made in results[:16] for result in made[2::3]]) == {"settled": 128}
    assert Call.objects.filter(state="settled", charge_microusd=20).count() == 128
    assert Call.objects.filter(state="settled", charge_microusd=5).count() == len(overdue)


def test_batches_of_several_wallets_at_once_end_without_deadlock() -> None:
    """As several server processes send them: each names the wallets in an order of its own and waits for none."""
    people = [payers.account() for _ in range(4)]
    for payer in people:
        payer.purse.pay(100_000)
    usages = [[(payer, new_id("use")) for payer in people] for _ in range(12)]
    for number, batch in enumerate(usages):
        random.Random(number).shuffle(batch)
    opened = statements_at_once(
        *(_batch(*(payer.opening(10, usage_id=usage) for payer, usage in one)) for one in usages)
    )
    closed = statements_at_once(
        *(_batch(*(payer.settlement(usage, 3) for payer, usage in reversed(one))) for one in usages)
    )
    held = [hold.usage_id for batch in opened for hold in batch if hold]
    settled = [done for batch in closed for done in batch if done and done.outcome == "settled"]
    assert Call.objects.filter(pk__in=held).count() == len(held) >= 4
    assert Call.objects.filter(state="settled").count() == len(settled) >= 1
    charged = sum(100_000 - payer.purse.wallet.balance_microusd for payer in people)
    assert charged == 3 * len(settled)


TOKENS_EACH = sum(used_for(3).values())


def test_batches_that_share_limits_end_without_deadlock_and_count_every_call() -> None:
    people = [payers.account() for _ in range(4)]
    for payer in people:
        payer.purse.pay(100_000)
    shared = {"scope": "client", "subject": APP}, {"scope": "alias", "subject": "fast"}
    limits = [{**limit, "requests": 10**9, "tokens": 10**9, "concurrent": 10**9} for limit in shared]
    batches = []
    for number in range(24):
        order = random.Random(number)
        batch = [(payer, new_id("use")) for payer in order.sample(people, len(people))]
        mixed = order.sample(limits, 2)
        openings = [payer.opening(10, usage_id=usage, client_id=APP, limits=mixed) for payer, usage in batch]
        batches.append((batch, _batch(*openings)))
    opened = statements_at_once(*(statement for _, statement in batches))
    held = [hold.usage_id for batch in opened for hold in batch if hold]
    assert Call.objects.filter(pk__in=held).count() == len(held) >= 4
    closings = [_batch(*(payer.settlement(usage, 3) for payer, usage in reversed(batch))) for batch, _ in batches]
    closed = statements_at_once(*closings)
    settled = [done for batch in closed for done in batch if done and done.outcome == "settled"]
    assert len(settled) >= 1
    for limit in shared:
        counted = LimitUse.objects.filter(**limit).aggregate(tokens=Sum("tokens"))
        assert counted == {"tokens": TOKENS_EACH * len(settled)}


def _batch(*elements: Element[Any]) -> Any:
    """Build the statement of a batch that waits for nobody; its result is each element's, None where that was busy."""
    rows = statement(*elements, wait=False)
    sql = f"SELECT array_agg(e.answer), array_agg(e.body) FROM ({rows.sql}) e"
    return Statement(
        sql, rows.parameters, lambda row: [read(*pair) for pair in zip(elements, zip(*row, strict=True), strict=True)]
    )


@pytest.mark.parametrize("in_a_transaction", [False, True])
def test_calls_go_on_while_an_organizations_first_budget_adds_its_month_up(in_a_transaction: bool) -> None:
    """The month's charges are kept from being read for a while, as if there were very many."""
    payer = payers.member()
    org = payer.purse.pay(100_000)
    before = timezone.now() - timedelta(seconds=10)
    for now in (before, before, timezone.now()):
        settle(org.call(10, now=now), 7, now=now)
    settled, given_up = org.call(20, now=before), org.call(30, now=before)

    def put() -> Budget:
        try:
            with transaction.atomic() if in_a_transaction else nullcontext():
                return budgets.put(Subject(org.owner), limit_microusd=10_000, now=before)
        finally:
            django_connection.close()

    with ThreadPoolExecutor(1) as pool, connect() as reader:
        reader.execute("LOCK TABLE billing_transfer IN ACCESS EXCLUSIVE MODE")
        putting = pool.submit(put)
        eventually(lambda: _waits_for("billing_transfer"))
        held = _impatiently(payer.opening(40), payer.release(given_up))
        reader.rollback()
        budget = putting.result()
    assert held == ["reserved", "released"]
    assert (budget.spent_microusd, budget.held_microusd) == (21, 60)
    settle(settled, 9)
    budget.refresh_from_db()
    assert (budget.spent_microusd, budget.held_microusd) == (30, 40)


def _impatiently(*elements: Element[Any]) -> list[str]:
    """Run elements on a connection that waits for no lock long, and give their outcomes."""
    with connect(autocommit=True, options="-c lock_timeout=10s") as caller:
        statements = [statement(element) for element in elements]
        return [str(one.read(caller.execute(one.sql, one.parameters).fetchone()).outcome) for one in statements]


def _waits_for(table: str) -> bool:
    with django_connection.cursor() as cursor:
        cursor.execute("SELECT FROM pg_locks WHERE NOT granted AND relation = %s::regclass", [table])
        return bool(cursor.fetchall())
