"""Whatever order invoices, payments and months come in, they do what the plain model of their rules does.

The ledger is sealed in between, and its audit is clean.
"""

from datetime import UTC, datetime, timedelta

import pytest
from django.db import transaction
from hypothesis import HealthCheck, assume, settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test

from billing.models import CreditLot, CreditNote, Invoice, Wallet
from billing.operations import invoice_payments, invoices, seals
from billing.rules.invoices import LineItem
from gateway.core.contract.ids import new_id
from tests.billing.clock import CHANGED_BY_THE_CLOCK, set_clock, stop_clock
from tests.billing.conftest import unsound
from tests.billing.invoice_model import InvoiceModel, InvoicesModel, Span, cost, month_of
from tests.billing.ledger_model import Call, LedgerModel
from tests.factories import invoicing
from tests.factories.billing import Purse, price_version, settle

ORGANIZATIONS = ("org_acme", "org_other")
STATUSES = {"succeeded": "succeeded", "failed": "requires_payment_method", "processing": "processing"}
orgs = st.sampled_from(ORGANIZATIONS)
prices = st.sampled_from([0, 300_000, 20_000_000, 23_456_789])
outcomes = st.sampled_from(["succeeded", "succeeded", "failed", "processing", "review"])


class InvoiceMachine(RuleBasedStateMachine):
    """Drives database and model alike. Time begins a minute before a month does."""

    known: Bundle[InvoiceModel] = Bundle("known")

    @initialize()
    def begin(self) -> None:
        """Open two organizations of this run's own, to be rolled back with everything else."""
        self.transaction = transaction.atomic()
        self.transaction.__enter__()
        self.now = datetime(2027, 12, 31, 23, 59, tzinfo=UTC)
        stop_clock(self.now)
        price_version()
        self.model = InvoicesModel({org_id: LedgerModel() for org_id in ORGANIZATIONS})
        self.purses = {org_id: Purse("organization", org_id).pay(1000) for org_id in ORGANIZATIONS}
        for wallet in self.model.wallets.values():
            wallet.pay(1000)
        self.month: dict[str, Span] = dict.fromkeys(ORGANIZATIONS, month_of(2027, 11))

    def teardown(self) -> None:
        """Seal and audit, then forget."""
        if not hasattr(self, "transaction"):
            return
        self.wait(1)
        self.seal()
        found = [finding for finding in unsound() if finding.invariant not in CHANGED_BY_THE_CLOCK]
        transaction.set_rollback(True)
        self.transaction.__exit__(None, None, None)
        assert found == []

    @rule(hours=st.sampled_from([1, 24, 71, 7 * 24, 31 * 24]))
    def wait(self, hours: int) -> None:
        """Advance the clock."""
        self.now += timedelta(hours=hours)
        set_clock(self.now)

    @rule(target=known, org_id=orgs, price=prices, seat_days=st.integers(1, 62))
    def draft(self, org_id: str, price: int, seat_days: int) -> InvoiceModel:
        """Draft an organization's next month."""
        month = self.month[org_id] = self._month_after(org_id)
        amount = cost(price, seat_days, month)
        row = invoices.draft(org_id, month, [LineItem("studio", price, seat_days, amount)], now=self.now)
        self.model.invoices.append(InvoiceModel(row.pk, org_id, month, amount))
        return self.model.invoices[-1]

    @rule(invoice=known, hours=st.sampled_from([0, 2, 48]))
    def issue(self, invoice: InvoiceModel, hours: int) -> None:
        """Issue an invoice, also by a job that began hours ago."""
        began = self.now - timedelta(hours=hours)
        assert invoices.issue(invoice.id, now=began) is self.model.issue(invoice, began)

    @rule(invoice=known)
    def attempt(self, invoice: InvoiceModel) -> None:
        """Begin to charge an invoice that is owed, where no other charge is under way."""
        assume(invoice.is_owed and not invoice.pending)
        row = invoicing.attempt(Invoice.objects.get(pk=invoice.id), self.now)
        invoice.attempts[row.pk], invoice.next_attempt_at = "creating", None

    @rule(invoice=known, which=st.integers(0, 3), outcome=outcomes)
    def hear(self, invoice: InvoiceModel, which: int, outcome: str) -> None:
        """Hear of one of its charges, also once more."""
        assume(invoice.attempts)
        name = list(invoice.attempts)[which % len(invoice.attempts)]
        row = Invoice.objects.get(pk=invoice.id).payments.get(pk=name)
        status = STATUSES.get(outcome, "succeeded")
        wrong = {} if outcome != "review" else {"amount_microusd": row.amount_microusd + 1}
        invoice_payments.apply(name, invoicing.record_of(row, status, **wrong), self.now)
        invoice.end_attempt(name, outcome, self.now)

    @rule()
    def mark_past_due(self) -> None:
        """Look for what nobody paid in time."""
        assert invoices.mark_past_due(now=self.now) == self.model.mark_past_due(self.now)

    @rule(invoice=known)
    def void(self, invoice: InvoiceModel) -> None:
        """End an invoice that nobody paid."""
        if invoice.void():
            invoices.void(invoice.id, reason="Never used", now=self.now)
        else:
            with pytest.raises(invoices.NotCorrectable):
                invoices.void(invoice.id, reason="Never used", now=self.now)

    @rule(invoice=known, amount=st.sampled_from([1, 999_999, 20_000_000, 40_000_000]))
    def credit(self, invoice: InvoiceModel, amount: int) -> None:
        """Credit some of what was paid, once however often it is asked for."""
        note_id = new_id("cn")
        if amount > self.model.creditable(invoice):
            with pytest.raises(invoices.NotCorrectable):
                self._credit(invoice, amount, note_id)
            return
        notes = [self._credit(invoice, amount, note_id) for _ in range(2)]
        lot = CreditLot.objects.get(source_kind="credit_note", source_key=note_id)
        assert [note.serial for note in notes] == [self.model.credit(invoice, amount, lot.pk)] * 2

    @rule(org_id=orgs, hold=st.integers(1, 2_000_000), part=st.integers(0, 100))
    def pay_for_a_call(self, org_id: str, hold: int, part: int) -> None:
        """Hold and settle a call, from what was credited first."""
        call = Call(new_id("use"), hold, None, None, None, b"", self.now, self.now)
        wallet = self.model.wallets[org_id]
        held = self.purses[org_id].reserve(hold, usage_id=call.id)
        assert held.outcome == wallet.reserve(call, self.now)
        if held.outcome == "reserved":
            charge = hold * part // 100
            assert settle(call.id, charge).outcome == wallet.settle(call, charge, self.now, False)

    @rule()
    def seal(self) -> None:
        """Seal what is final before now."""
        seals.seal_until(self.now)

    @invariant()
    def database_is_as_the_model(self) -> None:
        """Compare every invoice, number and amount."""
        if not hasattr(self, "model"):
            return
        rows = {row.pk: row for row in Invoice.objects.prefetch_related("payments")}
        assert set(rows) == {one.id for one in self.model.invoices}
        for one in self.model.invoices:
            row = rows[one.id]
            seen = (row.status, row.serial, row.total_microusd, row.due_microusd, row.issued_at, row.next_attempt_at)
            assert seen == (one.status, one.serial, one.total, one.due, one.issued_at, one.next_attempt_at)
            assert {payment.pk: payment.status for payment in row.payments.all()} == one.attempts
        assert sorted(CreditNote.objects.values_list("serial", flat=True)) == self.model.notes
        for org_id, model in self.model.wallets.items():
            wallet = Wallet.objects.get(owner_key=org_id)
            assert (wallet.balance_microusd, wallet.held_microusd) == (model.balance, model.cash_held())
            lots = CreditLot.objects.filter(wallet=wallet).values_list("id", "remaining_microusd")
            assert dict(lots) == {lot.id: lot.remaining for lot in model.lots}

    def _month_after(self, org_id: str) -> Span:
        end = self.month[org_id][1]
        return month_of(end.year, end.month)

    def _credit(self, invoice: InvoiceModel, amount: int, note_id: str) -> CreditNote:
        return invoices.credit(
            invoice.id, amount_microusd=amount, reason="Too many", actor="did:a", note_id=note_id, now=self.now
        )


@pytest.mark.django_db
def test_invoices_do_what_their_model_does() -> None:
    run_state_machine_as_test(
        InvoiceMachine,
        settings=settings(
            max_examples=10,
            stateful_step_count=30,
            deadline=None,
            suppress_health_check=list(HealthCheck),
        ),
    )
