"""Invoices of seats, their payments and corrections."""

import re
from collections.abc import Callable
from typing import Any

from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from django.utils.html import format_html
from unfold.decorators import action, display

from billing.admin.invoice_forms import CreditForm, RefundForm
from billing.admin.owners import SEARCH_HELP
from billing.models import (
    UNPAID,
    CreditNote,
    Invoice,
    InvoiceLine,
    InvoicePayment,
    InvoicePaymentStatus,
    InvoiceStatus,
    SeatPrice,
)
from billing.operations import invoice_payments, invoices
from billing.rules import invoice_labels
from gateway.core.console import PartyColumn, ReadOnlyAdmin, ReadOnlyInline, ReasonForm, dialog, may_act, money
from gateway.core.contract.amounts import usd
from gateway.core.contract.errors import ApiError

STATUS_COLOURS = {
    InvoiceStatus.DRAFT.label: "default",
    InvoiceStatus.OPEN.label: "info",
    InvoiceStatus.PAST_DUE.label: "danger",
    InvoiceStatus.PAID.label: "success",
    InvoiceStatus.VOID.label: "default",
}
RIGHT = "billing.change_invoice"
NUMBER = re.compile(r"INV-0*(\d{1,18})", re.IGNORECASE)
NOTHING_TO_CHARGE = "Nothing was charged: no payment method is saved, or a charge is in progress."


class LineInline(ReadOnlyInline):
    """The invoiced products."""

    price = money("Price per month", "price_microusd")
    amount = money("Amount", "amount_microusd")

    model = InvoiceLine
    ordering = ("product",)
    fields = ("product", "price", "seat_days", "amount")


class PaymentInline(ReadOnlyInline):
    """Each charge, and why it was refused."""

    amount = money("Amount", "amount_microusd")

    model = InvoicePayment
    verbose_name_plural = "Charges"
    ordering = ("-created_at", "-id")
    fields = ("id", "created_at", "status", "amount", "why", "payment_ref", "requested_by", "next_check_at")

    @display(description="Why it is not paid")
    def why(self, payment: InvoicePayment) -> str:
        """Return the provider's code, its text, and ours."""
        if payment.status == InvoicePaymentStatus.FAILED:
            code = payment.failure_code or ""
            return f"{code}: {payment.failure_reason or invoice_labels.failure(code)}"
        return payment.failure_reason or ""


class CreditNoteInline(ReadOnlyInline):
    """The credit notes."""

    amount = money("Amount", "amount_microusd")

    model = CreditNote
    ordering = ("serial",)
    fields = ("number", "created_at", "amount", "given_to", "reason", "created_by")

    @display(description="Returned to")
    def given_to(self, note: CreditNote) -> str:
        return "The payment method" if note.is_refund else "The wallet"


@admin.register(Invoice)
class InvoiceAdmin(ReadOnlyAdmin):
    """Invoices. An unpaid one can be made void here, a paid one can be credited."""

    empty_text = "The first one is made after the first month in which an organization has a product enabled."
    organization = PartyColumn("Organization", "org_id", kind="organization")
    total = money("Total", "total_microusd")
    due = money("Amount due", "due_microusd")

    list_display = ("title", "organization", "month", "stage", "total", "issued_at", "paid_at", "next_attempt_at")
    list_display_links = ("title",)
    list_filter = ("status", "period_start")
    search_fields = ("id__exact", "org_id__exact", "payments__id__exact")
    party_fields = ("org_id",)
    search_help_text = f"{SEARCH_HELP} Or the number of an invoice."
    ordering = ("-period_start", "-id")
    actions_detail = ("charge_again", "credit", "record_refund", "void")
    inlines = (LineInline, PaymentInline, CreditNoteInline)
    fieldsets = (
        (
            None,
            {"fields": ("title", "id", "organization", "month", "stage", "total", "due", "returned", "void_reason")},
        ),
        ("Timestamps", {"fields": ("created_at", "issued_at", "next_attempt_at", "paid_at", "voided_at")}),
    )

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Any], search_term: str
    ) -> tuple[QuerySet[Any], bool]:
        """Find invoices by number as well."""
        if number := NUMBER.fullmatch(search_term.strip()):
            return queryset.filter(serial=int(number[1])), False
        return super().get_search_results(request, queryset, search_term)

    def has_charge_permission(self, request: HttpRequest, object_id: str | None = None) -> bool:
        return may_act(request, RIGHT, Invoice.objects.filter(status__in=UNPAID), object_id)

    def has_void_permission(self, request: HttpRequest, object_id: str | None = None) -> bool:
        return may_act(request, RIGHT, Invoice.objects.filter(status__in=(*UNPAID, InvoiceStatus.DRAFT)), object_id)

    def has_credit_permission(self, request: HttpRequest, object_id: str | None = None) -> bool:
        paid = Invoice.objects.filter(status=InvoiceStatus.PAID, due_microusd__gt=0)
        return may_act(request, RIGHT, paid, object_id)

    @action(
        description="Charge again",
        icon="credit_card",
        permissions=["charge"],
        dialog=dialog(
            "Charge again",
            "The payment method that the organization saved last is charged now, with what is due.",
            "Charge",
            ReasonForm,
        ),
    )
    def charge_again(self, request: HttpRequest, form: ReasonForm, object_id: str) -> HttpResponse:
        """Try to collect the invoice now."""
        did = str(getattr(request.user, "did", ""))
        try:
            payment = invoice_payments.pay_now(object_id, now=timezone.now(), requested_by=did)
        except ApiError as error:
            return self.leave_dialog(request, object_id, error.message, messages.ERROR)
        if payment is None:
            return self.leave_dialog(request, object_id, NOTHING_TO_CHARGE, messages.WARNING)
        outcome = payment.failure_code or InvoicePaymentStatus(payment.status).label.lower()
        return self.finish_dialog(request, form, object_id, f"Charged again, {outcome}")

    @action(
        description="Credit",
        icon="redeem",
        permissions=["credit"],
        dialog=dialog(
            "Credit this invoice",
            "Part or all of what was paid is added to the organization's wallet as a credit, under a credit note with a "
            "number of its own. The invoice stays as it is. This cannot be undone.",
            "Credit",
            CreditForm,
        ),
    )
    def credit(self, request: HttpRequest, form: CreditForm, object_id: str) -> HttpResponse:
        return self._give_back(request, form, object_id, invoices.credit, "credited")

    @action(
        description="Record a refund",
        icon="undo",
        permissions=["credit"],
        dialog=dialog(
            "Record a refund of this invoice's charge",
            "Make the refund itself in the payment provider's dashboard. This only writes its credit note: no money moves, "
            "and the organization's wallet does not change. This cannot be undone.",
            "Record",
            RefundForm,
        ),
    )
    def record_refund(self, request: HttpRequest, form: RefundForm, object_id: str) -> HttpResponse:
        """Write the credit note of a refund at the provider."""
        return self._give_back(request, form, object_id, invoices.record_refund, "recorded a refund of")

    def _give_back(
        self, request: HttpRequest, form: CreditForm, object_id: str, give: Callable[..., CreditNote], verb: str
    ) -> HttpResponse:
        """Write a credit note, once per form, and report it."""
        cleaned = form.cleaned_data
        is_new = not CreditNote.objects.filter(pk=cleaned["key"]).exists()
        try:
            note = give(
                object_id,
                amount_microusd=cleaned["amount"],
                reason=cleaned["reason"],
                actor=str(getattr(request.user, "did", "")),
                note_id=cleaned["key"],
                now=timezone.now(),
            )
        except invoices.NotCorrectable as refusal:
            return self.leave_dialog(request, object_id, str(refusal), messages.ERROR)
        done = f"{verb if is_new else f'already {verb}'} {usd(note.amount_microusd)} as {note.number}"
        return self.finish_dialog(request, form, object_id, done[0].upper() + done[1:])

    @action(
        description="Void",
        icon="cancel",
        permissions=["void"],
        dialog=dialog(
            "Void this invoice",
            "Nobody owes it any more, and its month is not invoiced again. Its number stays used. This cannot be undone.",
            "Void",
            ReasonForm,
        ),
    )
    def void(self, request: HttpRequest, form: ReasonForm, object_id: str) -> HttpResponse:
        try:
            invoices.void(object_id, reason=form.cleaned_data["reason"], now=timezone.now())
        except invoices.NotCorrectable as refusal:
            return self.leave_dialog(request, object_id, str(refusal), messages.ERROR)
        return self.finish_dialog(request, form, object_id, "Made void")

    @display(description="Invoice", ordering="serial")
    def title(self, invoice: Invoice) -> str:
        return format_html('<span class="whitespace-nowrap">{}</span>', invoice)

    @display(description="Returned")
    def returned(self, invoice: Invoice) -> str:
        """Return how much was credited or refunded, and how much still can be."""
        if invoice.status != InvoiceStatus.PAID:
            return ""
        gone = invoices.returned_microusd(invoice)
        return f"{usd(gone)}; {usd(invoice.due_microusd - gone)} can still be credited or refunded"

    @display(description="Month", ordering="period_start")
    def month(self, invoice: Invoice) -> str:
        return f"{invoice.period_start:%B %Y}"

    @display(description="Status", label=STATUS_COLOURS)
    def stage(self, invoice: Invoice) -> str:
        return InvoiceStatus(invoice.status).label


@admin.register(SeatPrice)
class SeatPriceAdmin(ReadOnlyAdmin):
    """Seat prices and the times from which they apply. They are set on the catalogue's pages."""

    empty_text = "Set a price for a seat on the page of a product."
    price = money("Price per month", "price_microusd")

    list_display = ("product", "price", "effective_at")
    search_fields = ("product__exact",)
    search_help_text = "A complete product."
    ordering = ("-effective_at", "-id")
    fields = list_display
