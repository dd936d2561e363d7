"""How a customer pays: checkouts, invoices, and automatic top-up with its charges."""

from datetime import datetime

from django.http import HttpRequest
from django.utils.html import format_html

from billing.models import (
    UNPAID,
    AutoTopUp,
    AutoTopUpCharge,
    AutoTopUpStatus,
    Checkout,
    CheckoutStatus,
    Invoice,
    InvoicePayment,
    InvoicePaymentStatus,
    InvoiceStatus,
)
from billing.rules.auto_top_ups import OPERATOR
from gateway.core.contract.amounts import usd
from gateway.customers.customer import Customer, may
from gateway.customers.section import ROWS, Cell, Part, Section, dialog_link, joined, label, link, list_of, when

COLOURS: dict[str, str] = {
    CheckoutStatus.PAID: "success",
    CheckoutStatus.COMPLETED: "success",
    CheckoutStatus.REVIEW: "warning",
    InvoiceStatus.PAST_DUE: "danger",
    AutoTopUpStatus.SUCCEEDED: "success",
    AutoTopUpStatus.FAILED: "danger",
}

REFUND = "To refund a payment, follow “Refund at Stripe” and refund it there; “Ask the provider again” then books it in the wallet at once."
REFUND_INVOICE = "To refund an invoice, follow “Refund at Stripe”, refund it there, and write down the same amount by “Record a refund”."


def checkouts(request: HttpRequest, customer: Customer, now: datetime) -> Section:
    """Return the newest payments. A refund is made at the provider; the dialog books it at once."""
    found = Checkout.objects.filter(owner_kind=customer.kind, owner_key=customer.key).order_by("-created_at")[:ROWS]
    may_act = may(request, Checkout, "ask")
    rows = [
        (
            link("billing_checkout_change", one.pk, one.pk),
            usd(one.amount_microusd) or "payment method",
            label(CheckoutStatus(one.status).label, COLOURS.get(one.status, "")),
            usd(one.taken_back_microusd or None),
            when(one.created_at),
            joined(_of_provider(one) + (_decisions(one) if may_act else [])),
        )
        for one in found
    ]
    headers = ("Payment", "Amount", "Status", "Refunded or disputed", "Began", "Action")
    links = [list_of("billing_checkout", customer)]
    return Section("Payments", headers, rows, "There has been no payment.", links, REFUND if may_act else "")


def _of_provider(payment: Checkout | InvoicePayment) -> list[Cell]:
    """Link to a payment at the provider, where it is refunded."""
    if payment.provider != "stripe" or not payment.payment_ref:
        return []
    mode = "" if payment.is_live else "test/"
    address = f"https://dashboard.stripe.com/{mode}payments/{payment.payment_ref}"
    return [format_html('<a class="underline" href="{}" rel="noreferrer">Refund at Stripe</a>', address)]


def _decisions(checkout: Checkout) -> list[Cell]:
    found: list[Cell] = [dialog_link("billing_checkout_ask_again", "Ask the provider again", checkout.pk)]
    if checkout.status == CheckoutStatus.REVIEW:
        found += [dialog_link("billing_checkout_credit", "Credit", checkout.pk)]
        found += [dialog_link("billing_checkout_dismiss", "Dismiss", checkout.pk)]
    return found


def invoices(request: HttpRequest, customer: Customer, now: datetime) -> Section:
    """Return the newest invoices, each with what can be done about it."""
    may_act = may(request, Invoice, "void")
    found = list(Invoice.objects.filter(org_id=customer.key).order_by("-period_start")[:ROWS])
    paid = InvoicePayment.objects.filter(invoice__in=found, status=InvoicePaymentStatus.SUCCEEDED)
    charges = {payment.invoice_id: _of_provider(payment) for payment in paid}
    rows = [
        (
            link("billing_invoice_change", str(one), one.pk),
            f"{one.period_start:%B %Y}",
            usd(one.total_microusd),
            label(InvoiceStatus(one.status).label, COLOURS.get(one.status, "")),
            when(one.issued_at),
            joined(charges.get(one.pk, []) + (_of_invoice(one) if may_act else [])),
        )
        for one in found
    ]
    headers = ("Invoice", "Month", "Total", "Status", "Issued", "Action")
    links = [list_of("billing_invoice", customer)]
    return Section("Invoices", headers, rows, "There has been no invoice.", links, REFUND_INVOICE if may_act else "")


def _of_invoice(invoice: Invoice) -> list[Cell]:
    if invoice.status in UNPAID:
        return [dialog_link("billing_invoice_charge_again", "Charge again", invoice.pk)]
    if invoice.status != InvoiceStatus.PAID or not invoice.due_microusd:
        return []
    actions = (("credit", "Credit"), ("record_refund", "Record a refund"))
    return [dialog_link(f"billing_invoice_{name}", title, invoice.pk) for name, title in actions]


def automatic(request: HttpRequest, customer: Customer, now: datetime) -> Section:
    """Return the terms of automatic top-up, with the dialogs that pause it, or resume it, which charges again if that is due."""
    terms = AutoTopUp.objects.filter(wallet=customer.wallet).first()
    headers = ("State", "Below", "Charge", "At most a month", "Paused", "Action")
    links = [list_of("billing_autotopup", customer)]
    if terms is None:
        return Section("Automatic top-up", headers, [], "It was never set up.", links)
    may_act = may(request, AutoTopUp, "pause")
    row = (
        _state(terms),
        usd(terms.threshold_microusd),
        usd(terms.amount_microusd),
        usd(terms.monthly_limit_microusd),
        f"{when(terms.paused_at)} {terms.pause_reason or ''}".strip(),
        joined(_of_terms(terms) if may_act else []),
    )
    return Section("Automatic top-up", headers, [row], "", links)


def _of_terms(terms: AutoTopUp) -> list[Cell]:
    found: list[Cell] = []
    if terms.pause_reason != OPERATOR:
        found.append(dialog_link("billing_autotopup_pause", "Pause", terms.pk))
    if terms.paused_at is not None:
        found.append(dialog_link("billing_autotopup_resume", "Resume and charge again", terms.pk))
    return found


def _state(terms: AutoTopUp) -> str:
    if terms.paused_at:
        return label("paused", "warning")
    return label("on", "success") if terms.is_enabled else label("off")


def charges(request: HttpRequest, customer: Customer, now: datetime) -> Section:
    """Return the newest automatic charges, with the dialog that dismisses one in review."""
    found = AutoTopUpCharge.objects.filter(wallet=customer.wallet).order_by("-created_at", "-id")[:ROWS]
    may_act = may(request, AutoTopUpCharge, "dismiss")
    rows = [
        (
            link("billing_autotopupcharge_change", one.pk, one.pk),
            usd(one.amount_microusd),
            label(AutoTopUpStatus(one.status).label, COLOURS.get(one.status, "")),
            one.failure_code or "",
            when(one.created_at),
            dialog_link("billing_autotopupcharge_dismiss", "Dismiss", one.pk)
            if may_act and one.status == AutoTopUpStatus.REVIEW
            else "",
        )
        for one in found
    ]
    headers = ("Charge", "Amount", "Status", "Why", "Began", "Action")
    links = [list_of("billing_autotopupcharge", customer)]
    return Section("Automatic charges", headers, rows, "Nothing was charged automatically.", links)


PARTS = (
    Part(Checkout, checkouts),
    Part(Invoice, invoices, ("organization",)),
    Part(AutoTopUp, automatic),
    Part(AutoTopUpCharge, charges),
)
