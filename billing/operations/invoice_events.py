"""Records what becomes of invoices. Call these last in a transaction, after all of its locks."""

from datetime import datetime
from typing import Any

from billing.models import Invoice, InvoicePayment, OwnerKind
from gateway.core.events.operations.in_order import Happened, record


def issued(invoice: Invoice, now: datetime) -> None:
    """Record that an invoice was issued, and that it is paid if nothing is to be collected."""
    types = ["invoice.issued"] if invoice.due_microusd else ["invoice.issued", "invoice.paid"]
    record([_happened(type_, invoice, now) for type_ in types])


def past_due(invoice: Invoice, now: datetime) -> None:
    """Record that an invoice was not paid in time, or that its charge failed."""
    record([_happened("invoice.past_due", invoice, now)])


def charged(invoice: Invoice, payment: InvoicePayment, now: datetime) -> None:
    """Record that a charge paid an invoice: for product servers, and for people."""
    record(
        [_happened("invoice.paid", invoice, now), _happened("invoice.charged", invoice, now, **_of_payment(payment))]
    )


def failed(invoice: Invoice, payment: InvoicePayment, now: datetime, *, is_newly_past_due: bool) -> None:
    """Record that a charge failed, and that its invoice is past due if it was not before."""
    happened = [_happened("invoice.past_due", invoice, now)] if is_newly_past_due else []
    failure = {**_of_payment(payment), "failureCode": payment.failure_code}
    record([*happened, _happened("payment.failed", invoice, now, **failure)])


def _happened(type_: str, invoice: Invoice, now: datetime, **more: Any) -> Happened:
    data = {
        "orgId": invoice.org_id,
        "invoiceId": invoice.pk,
        "number": invoice.number,
        "status": invoice.status,
        "totalMicrousd": invoice.total_microusd,
        **more,
    }
    return Happened(OwnerKind.ORGANIZATION.value, invoice.org_id, type_, data, now=now)


def _of_payment(payment: InvoicePayment) -> dict[str, Any]:
    return {"paymentId": payment.pk, "amountMicrousd": payment.amount_microusd}
