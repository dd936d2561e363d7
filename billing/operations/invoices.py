"""Draft, issue and correct invoices of seats.

A draft fixes an invoice's content. Issuing assigns the next number in one transaction. An issued invoice never changes:
an unpaid one can be made void, a paid one can be credited.
"""

import logging
from collections.abc import Sequence
from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models import Max, Model, Sum

from billing.models import (
    PENDING,
    UNPAID,
    CreditNote,
    Invoice,
    InvoiceLine,
    InvoicePayment,
    InvoicePaymentStatus,
    InvoiceStatus,
)
from billing.operations import credits, invoice_events
from billing.queries import invoices as queries
from billing.queries import locked
from billing.rules.invoices import LineItem, due_of
from gateway.core.contract.amounts import usd
from gateway.core.contract.ids import new_id
from gateway.core.contract.limits import CENT_MICROUSD
from gateway.core.database.turns import take_turn

log = logging.getLogger("billing.invoices")

CREDIT_SOURCE = "credit_note"
WHOLE_CENTS = "Only whole cents can be refunded. One cent is 10,000 micro-USD."


class NotCorrectable(Exception):
    """The invoice cannot be made void or credited. The text tells the operator why."""


def draft(org_id: str, month: tuple[datetime, datetime], items: Sequence[LineItem], *, now: datetime) -> Invoice:
    """Create the draft of a month, which is not owed yet. Joins the caller's transaction, which prevents a second
    draft."""
    total = sum(item.amount_microusd for item in items)
    start, end = month
    invoice = Invoice.objects.create(
        id=new_id("inv"),
        org_id=org_id,
        period_start=start,
        period_end=end,
        total_microusd=total,
        due_microusd=due_of(total),
        created_at=now,
    )
    InvoiceLine.objects.bulk_create(InvoiceLine(invoice=invoice, **item._asdict()) for item in items)
    return invoice


def is_billed(org_id: str, month_start: datetime) -> bool:
    """Return whether a month has an invoice, even a void one: a voided invoice is not created again automatically."""
    return Invoice.objects.filter(org_id=org_id, period_start=month_start).exists()


def issue_all(*, since: datetime, now: datetime) -> int:
    """Issue the drafts of the months that begin at `since` or later; return how many."""
    return sum(issue(invoice_id, now=now) for invoice_id in queries.drafts(since))


@transaction.atomic
def issue(invoice_id: str, *, now: datetime) -> bool:
    """Issue a draft: number it and set its due date; return False if it is no longer a draft.

    An invoice with nothing to collect is paid when it is issued.
    """
    invoice = locked.invoice(invoice_id)
    if invoice.status != InvoiceStatus.DRAFT:
        return False
    invoice.serial = _next_serial(Invoice, "numbers of invoices")
    invoice.issued_at = now
    if invoice.due_microusd:
        invoice.status, invoice.next_attempt_at = InvoiceStatus.OPEN, now
    else:
        invoice.status, invoice.paid_at = InvoiceStatus.PAID, now
    invoice.save(update_fields=["serial", "issued_at", "status", "paid_at", "next_attempt_at"])
    invoice_events.issued(invoice, now)
    return True


def mark_past_due(*, now: datetime) -> int:
    """Mark the invoices that were not paid in time as past due; return how many."""
    found = list(queries.unpaid_too_long(now).order_by("pk").values_list("pk", flat=True))
    return sum(_mark_past_due(invoice_id, now) for invoice_id in found)


@transaction.atomic
def _mark_past_due(invoice_id: str, now: datetime) -> bool:
    invoice = locked.invoice(invoice_id)
    if not queries.unpaid_too_long(now).filter(pk=invoice_id).exists():
        return False
    invoice.status = InvoiceStatus.PAST_DUE
    invoice.save(update_fields=["status"])
    invoice_events.past_due(invoice, now)
    return True


def collect_early(org_id: str, *, now: datetime) -> None:
    """Schedule an organization's unpaid invoices for the next collection, because it has saved a payment method."""
    Invoice.objects.filter(org_id=org_id, status__in=UNPAID).update(next_attempt_at=now)


@transaction.atomic
def void(invoice_id: str, *, reason: str, now: datetime) -> None:
    """Void an unpaid invoice. Raises NotCorrectable if it is paid, void, or a charge is in progress.

    A charge in review does not prevent this: the operator has seen the provider's record and decides.
    """
    invoice = locked.invoice(invoice_id)
    if invoice.status in (InvoiceStatus.PAID, InvoiceStatus.VOID):
        raise NotCorrectable(f"The invoice is {invoice.get_status_display().lower()}.")
    undecided = InvoicePayment.objects.filter(invoice=invoice, status__in=PENDING)
    if undecided.exclude(status=InvoicePaymentStatus.REVIEW).exists():
        raise NotCorrectable("A payment is in progress. Wait for its outcome.")
    invoice.status, invoice.voided_at, invoice.void_reason = InvoiceStatus.VOID, now, reason
    invoice.next_attempt_at = None
    invoice.save(update_fields=["status", "voided_at", "void_reason", "next_attempt_at"])
    undecided.update(next_check_at=None)
    log.warning("invoice %s of %s is void: %s", invoice, invoice.org_id, reason)


@transaction.atomic
def credit(
    invoice_id: str, *, amount_microusd: int, reason: str, actor: str, note_id: str, now: datetime
) -> CreditNote:
    """Credit part or all of a paid invoice to the organization's wallet, once per note id.

    Raises NotCorrectable if the invoice is not paid, or if less than the amount is left of what was collected.
    """
    invoice = locked.invoice(invoice_id)
    note, is_new = _note(invoice, note_id, amount_microusd, now, reason=reason, created_by=actor, is_refund=False)
    if is_new:
        credits.grant(
            "organization",
            invoice.org_id,
            amount_microusd=amount_microusd,
            source_kind=CREDIT_SOURCE,
            source_key=note.id,
        )
    return note


@transaction.atomic
def record_refund(
    invoice_id: str, *, amount_microusd: int, reason: str, actor: str, note_id: str, now: datetime
) -> CreditNote:
    """Write the credit note of a refund that an operator makes at the provider, once per note id. No money is posted.

    Raises NotCorrectable as `credit` does, and if the amount is not whole cents: only whole cents can be refunded.
    """
    if amount_microusd % CENT_MICROUSD:
        raise NotCorrectable(WHOLE_CENTS)
    invoice = locked.invoice(invoice_id)
    note, _ = _note(invoice, note_id, amount_microusd, now, reason=reason, created_by=actor, is_refund=True)
    return note


def returned_microusd(invoice: Invoice) -> int:
    """Return how much of an invoice was credited to the wallet or refunded."""
    return invoice.credit_notes.aggregate(total=Sum("amount_microusd"))["total"] or 0


def _note(
    invoice: Invoice, note_id: str, amount_microusd: int, now: datetime, **members: Any
) -> tuple[CreditNote, bool]:
    """Write a credit note under the invoice's lock; return it, and whether it is new."""
    before = CreditNote.objects.filter(pk=note_id).first()
    if before is not None:
        return before, False
    if invoice.status != InvoiceStatus.PAID:
        raise NotCorrectable("Only an invoice that was paid can be credited. Make it void instead.")
    left = invoice.due_microusd - returned_microusd(invoice)
    if not left:
        raise NotCorrectable("All of this invoice was already credited or refunded.")
    if not 0 < amount_microusd <= left:
        raise NotCorrectable(f"At most {usd(left)} of this invoice can be credited or refunded.")
    serial = _next_serial(CreditNote, "numbers of credit notes")
    made = {"invoice": invoice, "serial": serial, "amount_microusd": amount_microusd, "created_at": now}
    return CreditNote.objects.create(id=note_id, **made, **members), True


def _next_serial(model: type[Model], series: str) -> int:
    """Return the next number. The lock lasts until the transaction ends, so that no number is skipped."""
    take_turn(series)
    last: int | None = model._default_manager.aggregate(last=Max("serial"))["last"]  # noqa: SLF001 (documented)
    return (last or 0) + 1
