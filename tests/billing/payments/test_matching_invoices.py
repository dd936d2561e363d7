"""Charges of invoices are matched with the provider's balance: what went back there is a refund that is recorded here."""

from collections.abc import Iterator
from datetime import timedelta

import pytest
import stripe
from django.utils import timezone

from billing.models import InvoicePayment, PaymentDifference, ProviderMovement
from billing.operations import events, invoices, payment_differences
from billing.queries import audit
from tests.billing.payments.matching import USD, after_midnight, differences, match, midnight
from tests.factories import invoicing
from tests.organizations.tenant import Tenant
from tests.support.stripe import FakeStripe
from tests.support.unguarded import unguarded

pytestmark = pytest.mark.django_db

DAY = timedelta(days=1)


@pytest.fixture
def tenant(db: None, provider: FakeStripe) -> Iterator[Tenant]:
    """An organization whose invoice of 40 USD is charged today; the money is audited when the test is over."""
    tenant = Tenant(provider)
    tenant.now = timezone.now()
    tenant.save_method()
    tenant.run()
    assert tenant.invoice.status == "paid"
    yield tenant
    assert audit.findings() == []


@pytest.fixture
def payment(tenant: Tenant) -> InvoicePayment:
    """The payment of the invoice."""
    return tenant.attempts[0]


@pytest.fixture
def client(provider: FakeStripe) -> stripe.StripeClient:
    """The operator's own access to the provider, by the official SDK."""
    return stripe.StripeClient(provider.secret_key, base_addresses={"api": provider.origin})


def refund(client: stripe.StripeClient, payment: InvoicePayment, cents: int) -> stripe.Refund:
    return client.v1.refunds.create({"payment_intent": str(payment.payment_ref), "amount": cents})


def amounts() -> tuple[int, int]:
    """Return what is left at the provider and here by the newest difference."""
    found = PaymentDifference.objects.latest("pk")
    return found.their_kept_microusd, found.our_kept_microusd


class TestRefunds:
    """What goes back to the card."""

    def test_a_charge_agrees_whatever_its_fee(self, provider: FakeStripe, payment: InvoicePayment) -> None:
        [charged] = [row for row in provider.store.every("balance_transaction") if row["type"] == "charge"]
        assert charged["fee"] > 0
        assert match() == {"days": 1, "movements": 1}

    @pytest.mark.parametrize(
        ("refunds", "notes"), [((4000,), (4000,)), ((700,), (700,)), ((1, 2), (3,)), ((5,), (2, 3))]
    )
    @pytest.mark.parametrize("is_noted_first", [True, False])
    def test_one_that_is_recorded_agrees(
        self,
        tenant: Tenant,
        payment: InvoicePayment,
        client: stripe.StripeClient,
        refunds: tuple[int, ...],
        notes: tuple[int, ...],
        is_noted_first: bool,
    ) -> None:
        def make() -> None:
            for cents in refunds:
                refund(client, payment, cents)

        def note() -> None:
            for cents in notes:
                invoicing.record_refund(tenant.invoice, cents)

        for step in (note, make) if is_noted_first else (make, note):
            step()
        assert match() == {"days": 1, "movements": 1 + len(refunds)}
        assert match(2 * DAY) == {"days": 2, "movements": 1 + len(refunds)}
        assert differences() == []

    def test_one_by_hand_is_a_difference_until_it_is_recorded(
        self, tenant: Tenant, payment: InvoicePayment, client: stripe.StripeClient
    ) -> None:
        refund(client, payment, 700)
        assert match() == {"days": 1, "movements": 2, "differences": 1, "open differences": 1}
        assert differences() == [(payment.pk, "taken_back", True)]
        assert amounts() == (33 * USD, 40 * USD)
        assert match() == {"open differences": 1}
        invoicing.record_refund(tenant.invoice, 699)
        assert match() == {"open differences": 1}
        assert amounts() == (33 * USD, 33_010_000)
        invoicing.record_refund(tenant.invoice, 1)
        assert match() == {"closed": 1}

    def test_one_by_hand_that_an_operator_resolves_is_none_any_more(
        self, payment: InvoicePayment, client: stripe.StripeClient, provider: FakeStripe
    ) -> None:
        refund(client, payment, 700)
        match()
        [found] = payment_differences.queries.open_differences()
        assert payment_differences.resolve(found.pk, reason="Goodwill", actor="did:op", now=timezone.now())
        assert match(2 * DAY) == {"days": 2, "movements": 2}
        after_midnight(provider)
        refund(client, payment, 1)
        match(3 * DAY)
        assert differences() == [(payment.pk, "taken_back", False), (payment.pk, "taken_back", True)]

    def test_a_credit_of_the_wallet_is_no_refund(
        self, tenant: Tenant, payment: InvoicePayment, client: stripe.StripeClient
    ) -> None:
        invoicing.credit(tenant.invoice, 7 * USD)
        refund(client, payment, 700)
        match()
        assert differences() == [(payment.pk, "taken_back", True)]

    def test_one_that_is_recorded_and_never_made_is_a_difference_until_it_is(
        self, tenant: Tenant, payment: InvoicePayment, client: stripe.StripeClient, provider: FakeStripe
    ) -> None:
        match()
        tomorrow = midnight() + timedelta(hours=5)
        invoicing.record_refund(tenant.invoice, 700, now=tomorrow)
        assert match(DAY + timedelta(hours=3)) == {"days": 1, "differences": 1, "open differences": 1}
        assert amounts() == (40 * USD, 33 * USD)
        provider.advance(int((tomorrow + DAY - timezone.now()).total_seconds()))
        refund(client, payment, 700)
        assert "open differences" not in match(2 * DAY + timedelta(hours=3))
        assert differences() == [(payment.pk, "taken_back", False)]

    def test_one_of_another_month_agrees(
        self, tenant: Tenant, payment: InvoicePayment, client: stripe.StripeClient, provider: FakeStripe
    ) -> None:
        match()
        provider.advance(int((40 * DAY).total_seconds()))
        refund(client, payment, 4000)
        invoicing.record_refund(tenant.invoice, 4000, now=timezone.now() + 40 * DAY)
        assert "differences" not in match(41 * DAY)
        assert ProviderMovement.objects.count() == 2

    @pytest.mark.parametrize("outcome", ["failed", "canceled"])
    def test_one_that_fails_is_as_if_it_were_never_made(
        self, payment: InvoicePayment, client: stripe.StripeClient, provider: FakeStripe, outcome: str
    ) -> None:
        made = refund(client, payment, 700)
        match()
        after_midnight(provider)
        provider.turn_refund(made.id, outcome)
        assert match() == {"closed": 1}
        assert differences() == [(payment.pk, "taken_back", False)]

    def test_one_that_is_recorded_and_fails_is_a_difference_until_it_is_made_again(
        self, tenant: Tenant, payment: InvoicePayment, client: stripe.StripeClient, provider: FakeStripe
    ) -> None:
        made = refund(client, payment, 700)
        invoicing.record_refund(tenant.invoice, 700)
        assert "differences" not in match()
        after_midnight(provider)
        provider.turn_refund(made.id, "failed")
        assert match(DAY + timedelta(hours=3))["open differences"] == 1
        assert amounts() == (40 * USD, 33 * USD)
        provider.advance(int(DAY.total_seconds()))
        refund(client, payment, 700)
        assert match(2 * DAY + timedelta(hours=3))["closed"] == 1

    def test_one_that_arrives_late_is_found_by_the_second_reading(
        self, payment: InvoicePayment, client: stripe.StripeClient, provider: FakeStripe
    ) -> None:
        made = refund(client, payment, 700)
        late = provider.store._objects.pop(str(made.balance_transaction))
        assert match() == {"days": 1, "movements": 1}
        provider.store._objects[late["id"]] = late
        assert match(2 * DAY)["open differences"] == 1
        assert amounts() == (33 * USD, 40 * USD)

    def test_one_that_is_listed_before_its_charge_belongs_to_it(
        self, tenant: Tenant, payment: InvoicePayment, client: stripe.StripeClient, provider: FakeStripe
    ) -> None:
        """By a clock that was put back."""
        made = refund(client, payment, 700)
        provider.amend(str(made.balance_transaction), created=int((midnight() - 2 * DAY).timestamp()) + 1)
        invoicing.record_refund(tenant.invoice, 700)
        with unguarded():  # else no day before the payment's is read
            InvoicePayment.objects.filter(pk=payment.pk).update(created_at=midnight() - 2 * DAY)
        assert match() == {"days": 2, "movements": 2}

    def test_events_of_it_twice_and_in_any_order_change_nothing(
        self, tenant: Tenant, payment: InvoicePayment, client: stripe.StripeClient, provider: FakeStripe
    ) -> None:
        made = refund(client, payment, 700)
        provider.turn_refund(made.id, "failed")
        for event in [*provider.events_of(), *reversed(provider.events_of())]:
            body, headers = provider.webhooks.signed(event)
            stored = events.receive(body, headers["Stripe-Signature"], now=timezone.now())
            if stored is not None:
                events.handle(stored, now=timezone.now())
        assert (tenant.invoice.status, tenant.outcomes) == ("paid", ["succeeded"])
        assert match() == {"days": 1, "movements": 3}


class TestDisputes:
    """What banks take."""

    def test_one_is_a_difference_until_it_is_won(self, provider: FakeStripe, payment: InvoicePayment) -> None:
        dispute = provider.dispute(str(payment.payment_ref), amount=1000)
        assert match()["open differences"] == 1
        assert amounts() == (30 * USD, 40 * USD)
        after_midnight(provider)
        provider.end_dispute(dispute["id"], "won")
        assert match() == {"closed": 1}

    def test_one_that_is_lost_stays_until_an_operator_deals_with_it(
        self, tenant: Tenant, provider: FakeStripe, payment: InvoicePayment
    ) -> None:
        dispute = provider.dispute(str(payment.payment_ref))
        provider.end_dispute(dispute["id"], "lost")
        assert match()["open differences"] == 1
        assert match(2 * DAY)["open differences"] == 1
        [found] = payment_differences.queries.open_differences()
        assert found.kind == "taken_back"
        payment_differences.resolve(found.pk, reason="Written off", actor="did:op", now=timezone.now())
        assert "open differences" not in match(3 * DAY)

    def test_an_inquiry_takes_nothing(self, provider: FakeStripe, payment: InvoicePayment) -> None:
        provider.dispute(str(payment.payment_ref), inquiry=True)
        assert match() == {"days": 1, "movements": 1}


class TestVoidInvoices:
    """A charge in review does not keep an invoice from being made void, and may still succeed."""

    @pytest.fixture
    def late(self, db: None, provider: FakeStripe) -> Iterator[Tenant]:
        """An organization whose invoice was void when its charge succeeded."""
        tenant = Tenant(provider)
        tenant.now = timezone.now()
        tenant.save_method("takes_its_time")
        tenant.run()
        intent = str(tenant.attempts[0].payment_ref)
        provider.amend(intent, amount=1)
        tenant.run(timedelta(minutes=1))
        invoices.void(tenant.invoice.pk, reason="Another amount was charged", now=tenant.now)
        provider.amend(intent, amount=4000)
        provider.end_charge(intent)
        yield tenant
        assert audit.findings() == []

    def test_its_refund_in_full_agrees(self, late: Tenant, client: stripe.StripeClient) -> None:
        refund(client, late.attempts[0], 4000)
        assert match() == {"days": 1, "movements": 2}
        assert late.invoice.status == "void"

    def test_what_is_not_refunded_of_it_is_a_difference(self, late: Tenant, client: stripe.StripeClient) -> None:
        payment = late.attempts[0]
        match()
        assert differences() == [(payment.pk, "not_booked", True)]
        after_midnight(late.provider)
        refund(client, payment, 3999)
        assert match() == {"open differences": 1}
        assert amounts() == (10_000, 0)
        refund(client, payment, 1)
        assert match() == {"closed": 1}

    def test_it_raises_one_alarm(self, late: Tenant, caplog: pytest.LogCaptureFixture) -> None:
        for _ in range(3):
            match()
        alarms = [record for record in caplog.records if record.levelname in ("ERROR", "CRITICAL")]
        assert [record.name for record in alarms] == ["billing.payment_matching"]


def test_a_charge_that_was_paid_after_it_was_refused_ends_the_schedule(
    db: None, provider: FakeStripe, caplog: pytest.LogCaptureFixture
) -> None:
    tenant = Tenant(provider)
    tenant.now = timezone.now()
    tenant.save_method("card_declined")
    tenant.run()
    provider.end_charge(str(tenant.attempts[0].payment_ref))
    for _ in range(2):
        match()
    assert differences() == [(tenant.attempts[0].pk, "not_booked", True)]
    assert tenant.invoice.next_attempt_at is None
    assert [record.name for record in caplog.records if record.levelname == "CRITICAL"] == ["billing.invoice_payments"]
