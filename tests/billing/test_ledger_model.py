"""Whatever order things happen in, the ledger does what the plain model of its rules does, and its audit is clean."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.db import transaction
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
from billing.models import Checkout, CreditLot, Reservation, Wallet
from billing.operations import budgets, credits, ledger
from billing.rules.budgets import spent_microusd
from gateway.contract.ids import new_id
from tests.billing.conftest import unsound
from tests.billing.ledger_model import Budget, Call, LedgerModel, Lot, Payment
from tests.factories.billing import ANSWER, Purse, release, review, settle
from tests.factories.payments import take_back, top_up

amounts = st.integers(1, 100)
products = st.sampled_from([None, "studio", "courier"])
members = st.sampled_from([None, "mem_1", "mem_2"])
keys = st.sampled_from([None, None, "k1", "k2"])
bodies = st.sampled_from([b"one", b"one", b"two"])


class LedgerMachine(RuleBasedStateMachine):
    """Drives database and model alike. Time begins a minute before a month does."""

    calls: Bundle[Call] = Bundle("calls")
    payments: Bundle[Payment] = Bundle("payments")

    @initialize()
    def begin(self) -> None:
        """Open an organization of this run's own, to be rolled back with everything else."""
        self.transaction = transaction.atomic()
        self.transaction.__enter__()
        self.purse = Purse("organization", new_id("org"))
        self.model = LedgerModel()
        self.now = datetime(2026, 1, 31, 23, 59, tzinfo=UTC)
        self.pay(200)
        self.grant(40, None, None)
        self.grant(40, None, 3600)
        self.grant(40, "studio", 60)
        self.put_budget(250, None, None)

    def teardown(self) -> None:
        """Audit, then forget."""
        if not hasattr(self, "transaction"):
            return
        found = [finding for finding in unsound() if finding.invariant != "nothing_is_stale"]
        transaction.set_rollback(True)
        self.transaction.__exit__(None, None, None)
        assert found == []

    @rule(seconds=st.sampled_from([1, 59, 60, 3600, 86400]))
    def wait(self, seconds: int) -> None:
        """Let time pass."""
        self.now += timedelta(seconds=seconds)

    @rule(amount=st.integers(50, 300))
    def pay(self, amount: int) -> None:
        """Bring money in."""
        self.purse.pay(amount)
        self.model.pay(amount)

    @rule(target=payments, amount=amounts, product=products)
    def top_up(self, amount: int, product: str | None) -> Payment:
        """Have a checkout paid."""
        checkout = top_up(self.purse.owner, amount, product)
        payment = Payment(checkout.id, product, amount)
        self.model.top_up(payment, self.newest_lot(payment))
        return payment

    @rule(payment=payments, total=st.integers(0, 100))
    def take_back(self, payment: Payment, total: int) -> None:
        """Have a payment refunded or disputed, or part of that undone."""
        change = min(total, payment.amount) - payment.taken
        take_back(Checkout.objects.get(pk=payment.id), total)
        if change > 0:
            self.model.take_back(payment, change)
        elif change < 0:
            self.model.give_back(payment, -change, self.newest_lot(payment))

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
        """Give a credit."""
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

    @rule(limit=st.integers(50, 300), product=products, member=members)
    def put_budget(self, limit: int, product: str | None, member: str | None) -> None:
        """Set a limit."""
        row = budgets.put(self.purse.key, limit_microusd=limit, product=product, membership_id=member, now=self.now)
        self.model.budgets[row.id] = Budget(product, member, limit)

    @rule(data=st.data())
    def disable_budget(self, data: Any) -> None:
        """Stop a limit from refusing."""
        if self.model.budgets:
            budget_id = data.draw(st.sampled_from(sorted(self.model.budgets)))
            budgets.disable(self.purse.key, budget_id, now=self.now)
            self.model.budgets[budget_id].enabled = False

    @rule(target=calls, hold=amounts, product=products, member=members, key=keys, body=bodies, dispatch=st.booleans())
    def reserve(
        self, hold: int, product: str | None, member: str | None, key: str | None, body: bytes, dispatch: bool
    ) -> Any:
        """Ask for a hold, and perhaps send the call at once."""
        call = Call(new_id("use"), hold, product, member, key, body, self.now)
        expected = self.model.reserve(call, self.now)
        held = self.purse.reserve(
            hold, key, body, usage_id=call.id, product=product, membership_id=member, now=self.now
        )
        assert held.outcome == expected
        if expected != "reserved":
            return multiple()
        if dispatch:
            self.dispatch(call)
        return call

    @rule(hold=st.integers(1, 40), cost=st.integers(0, 50), product=products, member=members)
    def pay_for_a_call(self, hold: int, cost: int, product: str | None, member: str | None) -> None:
        """Hold, send and settle at once."""
        call = self.reserve(hold, product, member, None, b"", True)
        if isinstance(call, Call):
            self.settle(call, cost, False)

    @rule(call=calls)
    def dispatch(self, call: Call) -> None:
        """Send a call."""
        sent = ledger.dispatch(usage_id=call.id, deadline=self.now + timedelta(seconds=60)).run()
        assert sent is (call.state == "reserved")
        if sent:
            call.state = "dispatched"

    @rule(call=calls, cost=st.integers(0, 120), has_answer=st.booleans())
    def settle(self, call: Call, cost: int, has_answer: bool) -> None:
        """Charge a call."""
        outcome = self.model.settle(call, cost, self.now, has_answer and call.key is not None)
        answer = ANSWER if has_answer else None
        assert settle(call.id, cost, replay=answer, now=self.now)[:2] == (outcome, call.charge)

    @rule(call=calls, states=st.sampled_from([("reserved", "dispatched"), ("review",)]))
    def release(self, call: Call, states: tuple[str, ...]) -> None:
        """Give a hold back."""
        expected = self.model.release(call, self.now, states)
        assert release(call.id, expected=states, now=self.now).outcome == expected

    @rule(call=calls)
    def review(self, call: Call) -> None:
        """Leave a call to reconciliation."""
        assert review(call.id) is (call.state == "dispatched")
        if call.state == "dispatched":
            call.state = "review"

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
        unsent = [
            call
            for call in self.model.calls.values()
            if call.state == "reserved" and call.created_at <= self.now - timedelta(seconds=60)
        ]
        reaped = {row[0] for row in ledger.reap(now=self.now).rows() if row[1] == "released"}
        assert reaped == {call.id for call in unsent}
        for call in unsent:
            self.model.release(call, self.now, ("reserved",))
        for row in Reservation.objects.filter(pk__in=self.model.calls, state="review"):
            self.model.calls[row.pk].state = "review"

    @invariant()
    def database_is_as_the_model(self) -> None:
        """Compare every amount and state."""
        if not hasattr(self, "model"):
            return
        model = self.model
        wallet = Wallet.objects.filter(owner_key=self.purse.key).first()
        if wallet is not None:
            seen = (wallet.balance_microusd, wallet.held_microusd, wallet.debt_microusd)
            assert seen == (model.balance, model.cash_held(), model.debt)
        lots = CreditLot.objects.filter(wallet=wallet).values_list("id", "remaining_microusd", "held_microusd")
        assert {row[0]: row[1:] for row in lots} == {lot.id: (lot.remaining, model.lot_held(lot)) for lot in model.lots}
        for row in BudgetRow.objects.filter(wallet=wallet):
            budget = model.budgets[row.id]
            assert row.held_microusd == model.budget_held(budget)
            assert spent_microusd(row.spent_microusd, row.period_start, self.now) == model.budget_spent(
                budget, self.now
            )
        states = Reservation.objects.filter(wallet=wallet).values_list("id", "state", "charge_microusd")
        assert {row[0]: row[1:] for row in states} == {c.id: (c.state, c.charge) for c in model.calls.values()}


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
