"""What an operator does about invoices in the console: see them, charge again, void and credit, each with a reason."""

import re
from typing import Any

import pytest
from django.contrib.admin.models import CHANGE
from django.contrib.messages import get_messages
from django.test import Client
from django.utils import timezone

from billing.models import CreditNote, Invoice, InvoicePayment
from billing.queries import audit, wallets
from gateway.core.contract.amounts import dollars
from gateway.core.contract.ids import new_id
from tests.factories import invoicing
from tests.gateway.operators import address, clerk, logged
from tests.organizations.tenant import Tenant
from tests.support.stripe import FakeStripe

pytestmark = pytest.mark.django_db


def act(client: Client, verb: str, invoice: Invoice, **form: Any) -> Any:
    path = f"{address('billing_invoice_changelist')}{invoice.pk}/{verb}/"
    return client.post(path, {"_form_submitted": "on", **form})


def credit(client: Client, invoice: Invoice, amount: int, key: str = "") -> Any:
    return act(client, "credit", invoice, amount=dollars(amount), reason="too many", key=key or new_id("cn"))


def messages(answer: Any) -> list[str]:
    return [str(message) for message in get_messages(answer.wsgi_request)]


def status(invoice: Invoice) -> str:
    invoice.refresh_from_db()
    return invoice.status


def test_an_unpaid_one_is_made_void_with_a_reason_once(operator: Client) -> None:
    invoice = invoicing.refused("org_acme")
    assert "HX-Redirect" not in act(operator, "void", invoice, reason="")
    answer = act(operator, "void", invoice, reason="wrong price")
    assert answer["HX-Redirect"] == address("billing_invoice_change", invoice.pk)
    assert (status(invoice), invoice.void_reason) == ("void", "wrong price")
    assert logged() == [(CHANGE, "Made void: wrong price")]
    assert act(operator, "void", invoice, reason="again").status_code == 403
    assert audit.findings() == []


def test_a_paid_one_is_credited_once_per_form_and_at_most_in_full(operator: Client) -> None:
    invoice, key = invoicing.paid("org_acme"), new_id("cn")
    for _ in range(2):
        credit(operator, invoice, 15_000_000, key)
    assert (
        messages(credit(operator, invoice, 5_000_001))[-1]
        == "At most $5.00 of this invoice can be credited or refunded."
    )
    assert CreditNote.objects.count() == 1
    assert wallets.view(("organization", "org_acme"), timezone.now()).credits_microusd == 15_000_000
    first, second = logged()
    assert first == (CHANGE, "Credited $15.00 as CN-000001: too many")
    assert second[1].startswith("Already credited")
    assert act(operator, "void", invoice, reason="r").status_code == 403
    assert status(invoice) == "paid"
    assert audit.findings() == []


def test_a_refund_of_a_charge_is_recorded_once_per_form_and_adds_nothing_to_the_wallet(operator: Client) -> None:
    invoice, form = invoicing.paid("org_acme"), {"amount": "15", "reason": "late", "key": new_id("cn")}
    for _ in range(2):
        act(operator, "record_refund", invoice, **form)
    note = CreditNote.objects.get()
    assert (note.amount_microusd, note.is_refund, note.created_by) == (15_000_000, True, "did:web:localhost:operator")
    assert wallets.view(("organization", "org_acme"), timezone.now()).credits_microusd == 0
    assert (
        messages(credit(operator, invoice, 5_000_001))[-1]
        == "At most $5.00 of this invoice can be credited or refunded."
    )
    again = {**form, "key": new_id("cn")}
    dialog = act(operator, "record_refund", invoice, **again | {"amount": "0.010001"})
    assert "Only whole cents can be refunded." in dialog.content.decode()
    assert messages(act(operator, "record_refund", invoice, **again))[-1].startswith("At most $5.00")
    assert [text for _, text in logged()] == [
        "Recorded a refund of $15.00 as CN-000001: late",
        "Already recorded a refund of $15.00 as CN-000001: late",
    ]
    page = operator.get(address("billing_invoice_change", invoice.pk)).content.decode()
    assert "The payment method" in page
    assert "$15.00; $5.00 can still be credited or refunded" in page
    credit(operator, invoice, 5_000_000)
    assert messages(credit(operator, invoice, 1))[-1] == "All of this invoice was already credited or refunded."
    assert audit.findings() == []


@pytest.mark.parametrize("amount", ["0", "-1", "0.0000015", "1,5", "x", "", str(10**30)])
def test_an_amount_that_makes_no_sense_credits_nothing(operator: Client, amount: str) -> None:
    invoice = invoicing.paid("org_acme")
    answer = act(operator, "credit", invoice, amount=amount, reason="r", key=new_id("cn"))
    assert answer.status_code == 200
    assert not CreditNote.objects.exists()


def test_an_unpaid_one_is_not_credited(operator: Client) -> None:
    invoice = invoicing.refused("org_acme")
    assert credit(operator, invoice, 1).status_code == 403
    form = {"amount": "0.01", "reason": "r", "key": new_id("cn")}
    assert act(operator, "record_refund", invoice, **form).status_code == 403
    assert not CreditNote.objects.exists()


def test_an_operator_sees_why_a_charge_failed_and_charges_again(operator: Client, provider: FakeStripe) -> None:
    tenant = Tenant(provider)
    method = tenant.save_method("insufficient_funds")
    tenant.run()
    page = operator.get(address("billing_invoice_change", tenant.invoice.pk)).content.decode()
    assert "insufficient_funds: Your card was declined." in page
    assert "INV-000001" in page
    provider.answer_charges(method, "succeeds")
    act(operator, "charge_again", tenant.invoice, reason="Olivia called")
    assert (tenant.invoice.status, tenant.attempts[-1].requested_by) == ("paid", "did:web:localhost:operator")
    assert logged() == [(CHANGE, "Charged again, succeeded: Olivia called")]
    assert act(operator, "charge_again", tenant.invoice, reason="r").status_code == 403
    assert len(provider.charges) == 1


def test_a_provider_that_is_away_or_a_method_that_is_not_saved_is_reported(
    operator: Client, provider: FakeStripe
) -> None:
    tenant = Tenant(provider)
    tenant.run()
    assert messages(act(operator, "charge_again", tenant.invoice, reason="r"))[-1].startswith("Nothing was charged")
    tenant.save_method()
    provider.script("error", times=100)
    assert "is not responding" in messages(act(operator, "charge_again", tenant.invoice, reason="r"))[-1]
    assert not InvoicePayment.objects.exists()


def test_only_operators_with_the_right_correct(operator: Client) -> None:
    unpaid, paid = invoicing.refused("org_acme", months_ago=2), invoicing.paid("org_acme")
    reader = clerk("view_invoice")
    assert reader.get(address("billing_invoice_change", paid.pk)).status_code == 200
    assert act(reader, "void", unpaid, reason="r").status_code == 403
    assert act(reader, "charge_again", unpaid, reason="r").status_code == 403
    assert credit(reader, paid, 1).status_code == 403
    assert act(reader, "record_refund", paid, amount="0.01", reason="r", key=new_id("cn")).status_code == 403
    assert (status(unpaid), status(paid)) == ("past_due", "paid")
    assert clerk(name="nobody").get(address("billing_invoice_changelist")).status_code == 403


def test_is_found_by_its_number(operator: Client) -> None:
    invoicing.issued("org_acme", months_ago=2)
    second = invoicing.issued("org_acme", months_ago=1)
    page = operator.get(address("billing_invoice_changelist"), {"q": "inv-2"}).content.decode()
    assert set(re.findall(r"INV-\d{6}", page)) == {second.number}
    assert operator.get(address("billing_invoice_changelist"), {"q": f"INV-{9 * 10**18}"}).status_code == 200
