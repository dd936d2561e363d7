"""Whatever order things happen in, the ledger does what the plain model of its rules does, and its audit is clean."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

import pytest
from django.db import connection, transaction
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    Bundle,
    RuleBasedStateMachine,
    consumes,
    initialize,
    invariant,
    multiple,
    rule,
    run_state_machine_as_test,
)

from billing.models import Budget as BudgetRow
from billing.models import Checkout, CreditLot
from billing.operations import alerts, budgets, credits, ledger, reviews
from billing.operations.budgets import Override
from billing.rules.budgets import BudgetPeriod, Subject
from gateway.core.contract.ids import new_id
from tests.billing.clock import CHANGED_BY_THE_CLOCK, set_clock, stop_clock
from tests.billing.conftest import unsound
from tests.billing.ledger_model import Budget, Call, LedgerModel, Lot, Payment
from tests.factories import batches, payers
from tests.factories.billing import ANSWER, price_version
from tests.factories.events import subscribe
from tests.factories.payments import take_back, top_up

amounts = st.integers(1, 100)
products = st.sampled_from([None, "studio", "courier"])
people = st.integers(0, 1)
members = st.sampled_from([None, 0, 1])
limits = st.integers(50, 300)
periods = st.sampled_from([BudgetPeriod.MONTH, *BudgetPeriod])
overrides = st.sampled_from([None, (60, 1), (150, 60), (400, 86400)])
keys = st.sampled_from([None, None, "k1", "k2"])
bodies = st.sampled_from([b"one", b"one", b"two"])
DEADLINE_SECONDS = 60
SEEN = """
SELECT w.id, json_build_array(w.balance_microusd, w.held_microusd, w.debt_microusd),
       (SELECT coalesce(json_object_agg(l.id, json_build_array(l.remaining_microusd, l.held_microusd)), '{}')
          FROM billing_credit_lot l WHERE l.wallet_id = w.id),
       (SELECT coalesce(json_object_agg(c.id, json_build_array(c.state, c.charge_microusd)), '{}')
          FROM billing_reservation c WHERE c.wallet_id = w.id),
       (SELECT coalesce(json_agg(json_build_array(e.type, e.data) ORDER BY e.sequence), '[]')
          FROM events_event e
         WHERE e.owner_key = w.owner_key AND split_part(e.type, '.', 1) IN ('wallet', 'budget', 'usage'))
  FROM billing_wallet w WHERE w.owner_key = %s
"""
"""A wallet with its credits, its calls, and the events of all these, in one statement: it is read after every step."""


class Terms(NamedTuple):
    """What a caller asks for."""

    hold: int
    product: str | None
    person: int
    key: str | None
    body: bytes


holds = st.builds(Terms, amounts, products, people, keys, bodies)


class LedgerMachine(RuleBasedStateMachine):
    """Drives database and model alike, by the statements that servers send. Time begins a minute before a month does."""

    calls: Bundle[Call] = Bundle("calls")
    payments: Bundle[Payment] = Bundle("payments")

    @initialize()
    def begin(self) -> None:
        """Open an organization of this run's own, to be rolled back with everything else."""
        self.transaction = transaction.atomic()
        self.transaction.__enter__()
        self.now = datetime(2026, 1, 31, 23, 59, tzinfo=UTC)
        stop_clock(self.now)
        self.payers = payers.members(("studio", "courier"), "olivia", "bob")
        self.purse = self.payers[0].purse
        self.version = price_version()
        self.model = LedgerModel(subscribed=frozenset({"studio"}))
        subscribe("studio", "usage.settled", "usage.released", "usage.reconciling")
        self.pay(200)
        self.grant(40, None, None)
        self.grant(40, None, 3600)
        self.grant(40, "studio", 60)
        self.put_budget(250, None, None)
        self.set_threshold(150)

    def teardown(self) -> None:
        """Audit, then forget."""
        if not hasattr(self, "transaction"):
            return
        found = [finding for finding in unsound() if finding.invariant not in CHANGED_BY_THE_CLOCK]
        transaction.set_rollback(True)
        self.transaction.__exit__(None, None, None)
        assert found == []

    @rule(seconds=st.sampled_from([1, 59, 60, 3600, 86400]))
    def wait(self, seconds: int) -> None:
        """Advance the clock."""
        self.now += timedelta(seconds=seconds)
        set_clock(self.now)

    @rule(amount=st.integers(50, 300))
    def pay(self, amount: int) -> None:
        """Bring money in."""
        checkout = top_up(self.purse.owner, amount)
        self.model.pay(amount)
        self.model.come_in(amount, checkout.id, self.now)

    @rule(target=payments, amount=amounts, product=products)
    def top_up(self, amount: int, product: str | None) -> Payment:
        """Pay a checkout."""
        checkout = top_up(self.purse.owner, amount, product)
        payment = Payment(checkout.id, product, amount)
        self.model.top_up(payment, self.newest_lot(payment))
        self.model.come_in(amount, payment.id, self.now)
        return payment

    @rule(payment=payments, total=st.integers(0, 100))
    def take_back(self, payment: Payment, total: int) -> None:
        """Refund or dispute a payment, or undo a part of that."""
        change = min(total, payment.amount) - payment.taken
        take_back(Checkout.objects.get(pk=payment.id), total)
        if change > 0:
            self.model.take_back(payment, change)
            self.model.look(self.now)
        elif change < 0:
            self.model.give_back(payment, -change, self.newest_lot(payment))
            self.model.come_in(-change, payment.id, self.now)

    @rule()
    def repay(self) -> None:
        """Repay debts of payments that were taken back."""
        ledger.repay_debts().rows()
        self.model.repay()

    def newest_lot(self, payment: Payment) -> str | None:
        """Find the credit that a payment brought last."""
        known = [lot.id for lot in self.model.lots]
        lots = CreditLot.objects.filter(source_kind="payment", source_key__startswith=payment.id)
        return lots.exclude(pk__in=known).values_list("id", flat=True).first()

    @rule(amount=amounts, product=products, seconds=st.sampled_from([None, 60, 3600]))
    def grant(self, amount: int, product: str | None, seconds: int | None) -> None:
        """Grant a credit."""
        expiry = None if seconds is None else self.now + timedelta(seconds=seconds)
        lot, _ = credits.grant(
            *self.purse.owner,
            amount_microusd=amount,
            product=product,
            expires_at=expiry,
            source_kind="test",
            source_key=new_id("key"),
        )
        self.model.lots.append(Lot(lot, product, amount, expiry))
        self.model.come_in(amount, None, self.now)

    @rule(low=st.sampled_from([0, 1, 60, 150, 250, 400]))
    def set_threshold(self, low: int) -> None:
        """Be told from another worth on."""
        assert alerts.set_threshold(self.purse.owner, amount_microusd=low) == self.model.alerts.low
        self.model.alerts.set_low(low, self.model.worth(self.now), self.model.available(self.now))

    @rule()
    def arm(self) -> None:
        """Look at a wallet between two changes, as `migrate` does."""
        is_due = alerts.arm_all(now=self.now)
        assert is_due in (0, 1)
        if is_due:
            self.model.look(self.now)

    @rule(limit=limits, product=products, person=members, period=periods, override=overrides)
    def put_budget(
        self,
        limit: int,
        product: str | None,
        person: int | None,
        period: BudgetPeriod = BudgetPeriod.MONTH,
        override: tuple[int, int] | None = None,
    ) -> None:
        """Set a limit, and another one for some seconds; without any, take what there was of these away."""
        member = None if person is None else self.payers[person].membership_id
        other = override and Override(override[0], self.now + timedelta(seconds=override[1]))
        subject = Subject(self.purse.owner, product, member)
        row = budgets.put(subject, limit_microusd=limit, period=period, override=other, now=self.now)
        budget = Budget(product, member, limit, period, other, id=row.id, scope=row.scope)
        before = self.model.budgets.get(row.id, budget)
        self.model.budgets[row.id] = replace(budget, alerts=before.alerts)
        self.model.look_at_budgets(self.now)

    @rule(data=st.data())
    def disable_budget(self, data: Any) -> None:
        """Stop a limit from refusing."""
        if self.model.budgets:
            budget_id = data.draw(st.sampled_from(sorted(self.model.budgets)))
            budgets.disable(self.purse.owner, budget_id, now=self.now)
            self.model.budgets[budget_id].enabled = False

    @rule(target=calls, terms=st.lists(holds, min_size=1, max_size=3), wait=st.booleans())
    def open(self, terms: list[Terms], wait: bool) -> Any:
        """Ask for one hold, or for several in one batch."""
        asking = [(one, self.payers[one.person], self.new_call(one)) for one in terms]
        expected = [self.model.reserve(call, self.now) for _, _, call in asking]
        elements = [
            payer.opening(
                one.hold,
                one.key,
                one.body,
                usage_id=call.id,
                product=one.product,
                price_version=self.version,
                deadline_seconds=DEADLINE_SECONDS,
            )
            for one, payer, call in asking
        ]
        held = batches.run(*elements, wait=wait)
        assert [hold.outcome for hold in held] == expected
        for hold in held:
            assert (hold.replay == ANSWER) if hold.outcome == "replay" else hold.replay is None
        return multiple(
            *(call for (_, _, call), outcome in zip(asking, expected, strict=True) if outcome == "reserved")
        )

    def new_call(self, terms: Terms) -> Call:
        """Note what is asked for as the model does."""
        member = self.payers[terms.person].membership_id
        until = self.now + timedelta(seconds=DEADLINE_SECONDS)
        return Call(new_id("use"), terms.hold, terms.product, member, terms.key, terms.body, self.now, until)

    @rule(terms=holds, cost=st.integers(0, 50))
    def pay_for_a_call(self, terms: Terms, cost: int) -> None:
        """Hold and settle at once."""
        call = self.new_call(terms._replace(key=None))
        opening = self.payers[terms.person].opening(
            terms.hold, usage_id=call.id, product=terms.product, price_version=self.version
        )
        assert batches.run(opening)[0].outcome == self.model.reserve(call, self.now)
        if call.id in self.model.calls:
            self.settle(call, cost, False)

    @rule(call=calls, cost=st.integers(0, 120), has_answer=st.booleans())
    def settle(self, call: Call, cost: int, has_answer: bool) -> None:
        """Charge a call."""
        expected = self.model.settle(call, cost, self.now, has_answer)
        answer = ANSWER if has_answer else None
        settlement = self.payers[0].settlement(call.id, cost, replay=answer)
        assert batches.run(settlement)[0][:2] == (expected, call.charge)

    @rule(call=calls)
    def release(self, call: Call) -> None:
        """Release a hold."""
        assert batches.run(self.payers[0].release(call.id))[0].outcome == self.model.release(call, self.now)

    @rule(call=calls)
    def review(self, call: Call) -> None:
        """Leave a call to review."""
        assert batches.run(self.payers[0].review(call.id))[0] == self.model.review(call)

    @rule(one=calls, two=calls, three=calls, cost=st.integers(0, 120))
    def close_together(self, one: Call, two: Call, three: Call, cost: int) -> None:
        """End several calls, or one of them several times, in one batch."""
        payer = self.payers[0]
        closings = (payer.release(one.id), payer.settlement(two.id, cost), payer.review(three.id))
        released, settled, reviewed = batches.run(*closings, wait=False)
        assert released.outcome == self.model.release(one, self.now)
        assert settled[:2] == (self.model.settle(two, cost, self.now, False), two.charge)
        assert reviewed == self.model.review(three)

    @rule(call=calls, cost=st.integers(0, 120))
    def charge_reviewed(self, call: Call, cost: int) -> None:
        """Charge a call as an operator."""
        assert reviews.charge(call.id, cost_microusd=cost) is self.model.charge_reviewed(call, cost, self.now)

    @rule(call=calls)
    def release_reviewed(self, call: Call) -> None:
        """Release a hold as an operator."""
        assert reviews.release(call.id) is self.model.release_reviewed(call, self.now)

    @rule(call=calls, seconds=st.sampled_from([1, 60, 120]))
    def check_in(self, call: Call, seconds: int) -> None:
        """Note that a stream is alive."""
        element = self.payers[0].check_in(call.id, {"charge_microusd": 0}, alive_seconds=seconds)
        assert batches.run(element) == [self.model.check_in(call, self.now + timedelta(seconds=seconds))]

    @rule(call=calls, alive=st.sampled_from([1, 60, 120]), silent=st.sampled_from([1, 59, 60]))
    def fall_silent(self, call: Call, alive: int, silent: int) -> None:
        """Record a stream's last checkpoint, and look for dead processes later."""
        self.check_in(call, alive)
        self.wait(silent)
        self.reap()

    @rule(target=calls, terms=holds, cost=st.integers(0, 50), later=st.sampled_from([1, 86399, 86400]))
    def ask_again(self, terms: Terms, cost: int, later: int) -> Any:
        """Settle a call with a key, and repeat it about a day later."""
        keyed = terms._replace(key="k3")
        first: Any = self.open([keyed], True)
        for call in first.values:
            self.settle(call, cost, True)
        self.wait(later)
        again: Any = self.open([keyed], False)
        return multiple(*first.values, *again.values)

    @rule(call=consumes(calls))
    def forget(self, call: Call) -> None:
        """Leave a call alone from here on."""

    @rule()
    def sweep(self) -> None:
        """Book expired credits."""
        assert {row[0] for row in ledger.sweep_lots(now=self.now).rows()} == self.model.sweep(self.now)

    @rule()
    def reap(self) -> None:
        """Take calls from processes that died."""
        assert {row[0] for row in ledger.reap().rows()} == self.model.reap(self.now)

    @invariant()
    def database_is_as_the_model(self) -> None:
        """Compare every amount and state."""
        if not hasattr(self, "model"):
            return
        model = self.model
        with connection.cursor() as cursor:
            cursor.execute(SEEN, [self.purse.key])
            [(wallet_id, wallet, lots, calls, events)] = cursor.fetchall()
        assert wallet == [model.balance, model.cash_held(), model.debt]
        assert lots == {lot.id: [lot.remaining, model.lot_held(lot)] for lot in model.lots}
        for row in BudgetRow.objects.filter(wallet=wallet_id):
            budget = model.budgets[row.id]
            assert row.held_microusd == model.budget_held(budget)
            assert row.spent_at(self.now) == model.budget_spent(budget, self.now)
            assert row.limit_at(self.now) == budget.limit_at(self.now)
        assert calls == {call.id: [call.state, call.charge] for call in model.calls.values()}
        recorded = [(type_, {"orgId": self.purse.key} | data) for type_, data in events]  # those of calls name no owner
        assert recorded == [(type_, {"orgId": self.purse.key} | data) for type_, data in model.alerts.recorded]


@pytest.mark.django_db
def test_the_ledger_does_what_its_model_does() -> None:
    run_state_machine_as_test(
        LedgerMachine,
        settings=settings(
            max_examples=25,
            stateful_step_count=40,
            deadline=None,
            suppress_health_check=list(HealthCheck),
        ),
    )
