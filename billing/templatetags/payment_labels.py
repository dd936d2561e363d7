"""Amounts and payments in templates."""

from collections.abc import Iterable

from django import template
from django.utils.html import format_html

from billing.models import Call, Checkout, Invoice, InvoicePayment
from billing.rules import call_labels, invoice_labels, payment_labels
from gateway.core.contract.amounts import decimals_of, dollars, usd, usd_rounded

register = template.Library()
register.filter("usd", usd)


@register.filter
def in_cents(amount_microusd: int) -> str:
    """Return an amount of at least 0 rounded to cents, with the exact one as its title where they differ."""
    exact, rounded = usd(amount_microusd), usd_rounded(amount_microusd)
    if rounded == exact:
        return exact
    return format_html('<data value="{}" title="{}">{}</data>', dollars(amount_microusd), exact, rounded)


@register.filter
def state_of(checkout: Checkout) -> payment_labels.State:
    """Return the state of a payment in words."""
    return payment_labels.state(checkout.status, checkout.review_reason, checkout.taken_back_microusd)


@register.filter
def invoice_state(invoice: Invoice) -> payment_labels.State:
    """Return the state of an invoice in words."""
    return invoice_labels.state(invoice.status)


@register.filter
def why_refused(payment: InvoicePayment) -> str:
    """Return why a charge was refused."""
    return invoice_labels.failure(payment.failure_code or "")


@register.filter
def is_awaited(checkout: Checkout) -> bool:
    """Return whether a payment may still arrive."""
    return payment_labels.is_awaited(checkout.status)


@register.filter
def bought(checkout: Checkout) -> str:
    """Return what a payment is for."""
    return payment_labels.bought(checkout.kind, checkout.product, is_automatic=checkout.is_automatic)


@register.filter
def ending(call: Call) -> call_labels.Ending:
    """Return how a call ended, and why."""
    used = getattr(call, "usage_record", None)
    return call_labels.ending(
        call.state,
        review_reason=call.review_reason,
        resolution=call.resolution,
        basis=used.basis if used else None,
        overrun_microusd=call.overrun_microusd,
    )


@register.filter
def with_charges(calls: Iterable[Call]) -> list[tuple[Call, str]]:
    """Pair calls with their cost, all with the same number of decimals."""
    rows = list(calls)
    decimals = decimals_of(_charged_microusd(call) for call in rows)
    return [(call, _charge_of(call, decimals)) for call in rows]


def _charged_microusd(call: Call) -> int | None:
    """Return the charge of a closed call, 0 if it was released."""
    return (call.charge_microusd or 0) if call.closed_at else None


def _charge_of(call: Call, decimals: int) -> str:
    """Return what a call cost, or that it is not known yet."""
    charged = _charged_microusd(call)
    return "Not known yet" if charged is None else usd(charged, decimals)
