"""Invoices, and charges of them that the provider says are paid or refused."""

from datetime import datetime, timedelta

from django.utils import timezone

from billing.models import Invoice, InvoicePayment
from billing.operations import invoice_payments, invoices
from billing.rules.invoices import LineItem
from billing.rules.months import month_around, month_before
from billing.rules.provider_records import Payment
from gateway.core.contract.ids import new_id
from gateway.core.contract.limits import CENT_MICROUSD

PRICE = 20_000_000


def drafted(org_id: str, *, months_ago: int = 1, price: int = PRICE) -> Invoice:
    """Draft a month of one seat."""
    month = month_around(timezone.now())
    for _ in range(months_ago):
        month = month_before(month[0])
    days = (month[1] - month[0]) // timedelta(days=1)
    return invoices.draft(org_id, month, [LineItem("studio", price, days, price)], now=timezone.now())


def issued(org_id: str, *, months_ago: int = 1, price: int = PRICE) -> Invoice:
    """Issue the invoice of a month of one seat."""
    invoice = drafted(org_id, months_ago=months_ago, price=price)
    assert invoices.issue(invoice.pk, now=timezone.now())
    return reloaded(invoice)


def reloaded(invoice: Invoice) -> Invoice:
    """Read it again."""
    invoice.refresh_from_db()
    return invoice


def attempt(invoice: Invoice, now: datetime | None = None) -> InvoicePayment:
    """Write down an attempt to collect it."""
    Invoice.objects.filter(pk=invoice.pk).update(next_attempt_at=None)
    return InvoicePayment.objects.create(
        id=new_id("pay"),
        invoice=invoice,
        amount_microusd=invoice.due_microusd,
        provider="elsewhere",
        is_live=False,
        customer_ref="cus_1",
        method_ref="pm_1",
        created_at=now or timezone.now(),
    )


def record_of(payment: InvoicePayment, status: str, **members: object) -> Payment:
    """Return the provider's record of an attempt."""
    made: dict[str, object] = {
        "ref": f"pi_{payment.pk}",
        "status": status,
        "amount_microusd": payment.amount_microusd,
        "received_microusd": payment.amount_microusd if status == "succeeded" else 0,
        "currency": "usd",
        "is_live": False,
        "transaction_id": payment.pk,
        "failure_code": "card_declined" if status == "requires_payment_method" else None,
        "failure_reason": None,
    }
    return Payment(**made | members)  # type: ignore[arg-type]


def end(payment: InvoicePayment, status: str) -> InvoicePayment:
    """Record how it ended at the provider."""
    return invoice_payments.apply(payment.pk, record_of(payment, status), now=timezone.now())


def paid(org_id: str, *, months_ago: int = 1) -> Invoice:
    """Create a paid invoice."""
    return _ended(org_id, months_ago, "succeeded")


def refused(org_id: str, *, months_ago: int = 1) -> Invoice:
    """Create an invoice whose charge was refused."""
    return _ended(org_id, months_ago, "requires_payment_method")


def credit(invoice: Invoice, amount: int) -> None:
    """Credit part of a paid invoice."""
    invoices.credit(
        invoice.pk,
        amount_microusd=amount,
        reason="Too many seats",
        actor="did:web:localhost:operator",
        note_id=new_id("cn"),
        now=timezone.now(),
    )


def record_refund(invoice: Invoice, cents: int, now: datetime | None = None) -> None:
    """Record a refund of part of a paid invoice's charge."""
    invoices.record_refund(
        invoice.pk,
        amount_microusd=cents * CENT_MICROUSD,
        reason="Too many seats",
        actor="did:web:localhost:operator",
        note_id=new_id("cn"),
        now=now or timezone.now(),
    )


def _ended(org_id: str, months_ago: int, status: str) -> Invoice:
    invoice = issued(org_id, months_ago=months_ago)
    end(attempt(invoice), status)
    return reloaded(invoice)
