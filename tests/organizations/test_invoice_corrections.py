"""Void invoices and credit notes."""

import logging
from datetime import timedelta

import pytest
from django.utils import timezone

from billing.models import CreditNote
from billing.operations import invoice_payments, invoices
from billing.operations.invoices import NotCorrectable
from billing.queries import wallets
from gateway.core.contract.ids import new_id
from organizations.operations import seat_invoices
from tests.factories import invoicing
from tests.organizations.tenant import PRICE, Tenant, state

pytestmark = pytest.mark.django_db

DAY, MINUTE = timedelta(days=1), timedelta(minutes=1)


def test_a_void_invoice_is_not_owed_and_its_month_is_not_billed_again(tenant: Tenant) -> None:
    tenant.save_method("card_declined")
    tenant.run()
    invoices.void(tenant.invoice.pk, reason="Wrong price", now=tenant.now)
    for _ in range(2):
        tenant.run(7 * DAY)
    assert (state(tenant), tenant.invoice.void_reason) == (("void", False), "Wrong price")
    assert (tenant.invoice.number, len(tenant.attempts)) == ("INV-000001", 1)


def test_a_draft_can_be_ended_without_a_number(tenant: Tenant) -> None:
    seat_invoices.draft_all(now=tenant.now)
    invoices.void(tenant.invoice.pk, reason="A test", now=tenant.now)
    tenant.run()
    assert (tenant.invoice.status, tenant.invoice.number) == ("void", None)


def test_an_invoice_is_not_made_void_while_it_is_being_paid(tenant: Tenant) -> None:
    tenant.save_method("takes_its_time")
    tenant.run()
    with pytest.raises(NotCorrectable, match="in progress"):
        invoices.void(tenant.invoice.pk, reason="r", now=tenant.now)
    tenant.provider.end_charge(str(tenant.attempts[0].payment_ref))
    tenant.run(DAY)
    with pytest.raises(NotCorrectable, match="paid"):
        invoices.void(tenant.invoice.pk, reason="r", now=tenant.now)


def test_a_charge_in_review_ends_with_its_invoice(tenant: Tenant, caplog: pytest.LogCaptureFixture) -> None:
    tenant.save_method("takes_its_time")
    tenant.run()
    [attempt] = tenant.attempts
    tenant.provider.amend(str(attempt.payment_ref), amount=1)
    tenant.run(MINUTE)
    invoices.void(tenant.invoice.pk, reason="Another amount was charged", now=tenant.now)
    tenant.provider.amend(str(attempt.payment_ref), amount=4000)
    tenant.provider.end_charge(str(attempt.payment_ref))
    tenant.run(DAY)
    with caplog.at_level(logging.CRITICAL):
        invoice_payments.converge(attempt, now=tenant.now)
    assert (state(tenant), tenant.outcomes) == (("void", False), ["review"])
    assert attempt.pk in caplog.text


def test_a_credit_is_in_the_wallet_once_and_never_more_than_was_paid(tenant: Tenant) -> None:
    tenant.save_method()
    tenant.run()
    note_id, total = new_id("cn"), tenant.invoice.total_microusd

    def credit(amount: int, note: str) -> CreditNote:
        return invoices.credit(
            tenant.invoice.pk, amount_microusd=amount, note_id=note, reason="r", actor="did:op", now=tenant.now
        )

    assert [credit(15_000_001, note_id).number for _ in range(2)] == ["CN-000001"] * 2
    with pytest.raises(NotCorrectable, match=r"At most \$24.999999"):
        credit(25_000_000, new_id("cn"))
    assert credit(24_999_999, new_id("cn")).number == "CN-000002"
    with pytest.raises(NotCorrectable, match="All of this invoice"):
        credit(1, new_id("cn"))
    wallet = wallets.view(("organization", tenant.id), timezone.now())
    assert (wallet.credits_microusd, wallet.balance_microusd) == (2 * PRICE, 0)
    assert (tenant.invoice.status, tenant.invoice.total_microusd) == ("paid", total)


def test_only_paid_amounts_are_credited(tenant: Tenant) -> None:
    tenant.run()
    with pytest.raises(NotCorrectable, match="void instead"):
        invoicing.credit(tenant.invoice, 1)
    assert not CreditNote.objects.exists()
