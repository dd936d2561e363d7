"""Collect invoices off-session, with the payment method that an organization saved.

An attempt is committed before the provider is called, and its id is the provider's idempotency key. If an attempt's
outcome is unknown, its charge is first looked up at the provider, and the request is repeated only if there is none.
The provider is never called within a transaction or under a lock; its record is applied under the invoice's lock.
"""

import logging
from collections.abc import Callable
from datetime import datetime

from django.db import transaction

from billing.adapters import configured
from billing.adapters.base import (
    ChargeRequest,
    PaymentProvider,
    ProviderError,
    ProviderUnavailable,
)
from billing.models import PENDING, UNPAID, Checkout, Invoice, InvoicePayment, InvoicePaymentStatus, InvoiceStatus
from billing.operations import invoice_events
from billing.operations.deadlines import deadline
from billing.operations.off_session import SEND_SECONDS, record_of
from billing.queries import invoices as queries
from billing.queries import locked, payment_methods
from billing.rules import charges
from billing.rules import invoices as rules
from billing.rules.provider_records import Payment, SavedMethod
from gateway.core.contract.errors import IntegrationUnavailable
from gateway.core.contract.ids import new_id
from gateway.core.contract.route_limits import rate_limited

log = logging.getLogger("billing.invoice_payments")

ROWS_MAX = 500
RUN_SECONDS = 25.0
NOT_RESPONDING = "The payment provider is not responding. If the charge was made, the invoice shows it within minutes."


def collect(*, now: datetime) -> int:
    """Charge every invoice that is due; return how many attempts were made. A failed attempt does not delay the
    others."""
    is_over = deadline(RUN_SECONDS)
    begun = 0
    for invoice_id in queries.to_collect(now, ROWS_MAX):
        if is_over():
            break
        try:
            begun += pay(invoice_id, now=now) is not None
        except (ProviderUnavailable, IntegrationUnavailable) as error:
            log.warning("invoice %s will be collected later: %s", invoice_id, error)
        except Exception:
            log.exception("invoice %s could not be collected", invoice_id)
            _reschedule(invoice_id, now)
    return begun


def follow(*, now: datetime) -> int:
    """Check every attempt whose outcome is unknown at the provider; return how many were checked."""
    provider = configured.provider()
    if provider is None:
        return 0
    is_over, charged = deadline(RUN_SECONDS), 0
    for payment in queries.undecided(provider.name, provider.is_live, now, ROWS_MAX):
        if is_over():
            break
        try:
            converge(payment, now=now)
            charged += 1
        except (ProviderError, IntegrationUnavailable) as error:
            log.warning("invoice payment %s will be checked later: %s", payment.id, error)
        except Exception:
            log.exception("invoice payment %s could not be compared", payment.id)
    return charged


def pay(invoice_id: str, *, now: datetime, requested_by: str | None = None) -> InvoicePayment | None:
    """Charge the saved payment method for an unpaid invoice; None if none is saved or there is nothing to charge.

    Raises IntegrationUnavailable or a ProviderError if the provider does not respond; an attempt that was already
    recorded is followed up later.
    """
    provider, is_late = configured.require(), deadline(SEND_SECONDS)
    saved = _saved_checkout(provider, Invoice.objects.get(pk=invoice_id))
    method = _saved_method(provider, saved)
    if method is None:
        _stop_attempts(provider, invoice_id, saved)
        return None
    payment = _begin(provider, invoice_id, method, now, requested_by)
    return None if payment is None else _ask(provider, payment, now, is_late, is_new=True)


def pay_now(invoice_id: str, *, now: datetime, requested_by: str) -> InvoicePayment | None:
    """Charge an unpaid invoice on request; None if no payment method is saved or there is nothing to charge.

    Raises RateLimited within a minute of the previous attempt, so that cards cannot be tested, and
    IntegrationUnavailable if the provider does not respond.
    """
    _check_interval(invoice_id, now)
    try:
        return pay(invoice_id, now=now, requested_by=requested_by)
    except ProviderError as error:
        log.warning("invoice %s will be collected later: %s", invoice_id, error)
        raise configured.unavailable(NOT_RESPONDING) from error


def converge(payment: InvoicePayment, *, now: datetime) -> InvoicePayment:
    """Make an attempt and its invoice match the provider's record; repeating changes nothing.

    Raises IntegrationUnavailable or a ProviderError if the provider does not respond; nothing is changed then.
    """
    return _ask(configured.require(), payment, now, deadline(SEND_SECONDS), is_new=False)


def _check_interval(invoice_id: str, now: datetime) -> None:
    last = InvoicePayment.objects.filter(invoice=invoice_id).order_by("-created_at").first()
    if last is not None and now - last.created_at < rules.BETWEEN_ATTEMPTS:
        wait = rules.BETWEEN_ATTEMPTS - (now - last.created_at)
        seconds = int(wait.total_seconds()) + 1
        raise rate_limited("organization", "invoice_charges_per_minute", seconds, "This invoice was charged just now.")


def _saved_checkout(provider: PaymentProvider, invoice: Invoice) -> Checkout | None:
    return payment_methods.saved(("organization", invoice.org_id), provider.name, provider.is_live)


def _saved_method(provider: PaymentProvider, saved: Checkout | None) -> SavedMethod | None:
    if saved is None or saved.session_ref is None:
        return None
    return provider.saved_method(saved.session_ref)


def _reschedule(invoice_id: str, now: datetime) -> None:
    """Reschedule an invoice, so that invoices that cannot be collected do not delay the others."""
    due = Invoice.objects.filter(pk=invoice_id, status__in=UNPAID, next_attempt_at__lte=now)
    due.update(next_attempt_at=now + rules.PUT_OFF)


@transaction.atomic
def _stop_attempts(provider: PaymentProvider, invoice_id: str, seen: Checkout | None) -> None:
    """Stop automatic attempts unless a different payment method was saved since the check.

    The lock serializes this with `invoices.collect_early`: whichever runs second sees the other's change.
    """
    invoice = locked.invoice(invoice_id)
    if invoice.status in UNPAID and _saved_checkout(provider, invoice) == seen:
        invoice.next_attempt_at = None
        invoice.save(update_fields=["next_attempt_at"])


@transaction.atomic
def _begin(
    provider: PaymentProvider, invoice_id: str, method: SavedMethod, now: datetime, requested_by: str | None
) -> InvoicePayment | None:
    """Record an attempt; None if the invoice is no longer unpaid, another attempt is in progress, the schedule is no
    longer due, or the organization is suspended and nobody asks. Raises RateLimited if a person asks and another attempt has just failed.
    """
    invoice = locked.invoice(invoice_id)
    if invoice.status not in UNPAID or invoice.payments.filter(status__in=PENDING).exists():
        return None
    if requested_by is not None:
        _check_interval(invoice_id, now)
    elif invoice.next_attempt_at is None or invoice.next_attempt_at > now or queries.is_suspended(invoice.org_id):
        return None
    invoice.next_attempt_at = None
    invoice.save(update_fields=["next_attempt_at"])
    return InvoicePayment.objects.create(
        id=new_id("pay"),
        invoice=invoice,
        amount_microusd=invoice.due_microusd,
        provider=provider.name,
        is_live=provider.is_live,
        customer_ref=method.customer_ref,
        method_ref=method.method_ref,
        requested_by=requested_by,
        created_at=now,
        next_check_at=now + charges.CHECK_MIN,
    )


def _ask(
    provider: PaymentProvider, payment: InvoicePayment, now: datetime, is_late: Callable[[], bool], *, is_new: bool
) -> InvoicePayment:
    try:
        request, ref = _request_for(payment), payment.payment_ref
        age = now - payment.created_at if payment.status in PENDING else None
        record = record_of(provider, request, ref, is_new=is_new, age=age, is_late=is_late)
    except ProviderError:
        _postpone(payment, now)
        raise
    return apply(payment.id, record, now)


def _request_for(payment: InvoicePayment) -> ChargeRequest:
    return ChargeRequest(
        payment_id=payment.id,
        amount_microusd=payment.amount_microusd,
        customer_ref=payment.customer_ref,
        method_ref=payment.method_ref,
        description=f"Invoice {payment.invoice.number}",
    )


@transaction.atomic
def apply(payment_id: str, record: Payment | str, now: datetime) -> InvoicePayment:
    """Apply the provider's record. If there is none, `record` is a code and the attempt failed."""
    invoice = locked.invoice(InvoicePayment.objects.values_list("invoice_id", flat=True).get(pk=payment_id))
    payment = InvoicePayment.objects.get(pk=payment_id)
    if payment.status not in PENDING:
        _look_for_late_success(invoice, payment, record)
        return payment
    if invoice.status not in UNPAID:
        log.critical("invoice payment %s is of an invoice that is %s; look at the provider", payment.id, invoice.status)
        return payment
    payment.checked_at, payment.next_check_at = now, None
    was_past_due = invoice.status == InvoiceStatus.PAST_DUE
    if isinstance(record, str):
        _fail(invoice, payment, record, None, now)
    else:
        _judge(invoice, payment, record, now)
    fields = ["status", "payment_ref", "failure_code", "failure_reason", "checked_at", "next_check_at"]
    payment.save(update_fields=fields)
    if payment.status == InvoicePaymentStatus.SUCCEEDED:
        invoice.status, invoice.paid_at, invoice.next_attempt_at = InvoiceStatus.PAID, now, None
        invoice.save(update_fields=["status", "paid_at", "next_attempt_at"])
        invoice_events.charged(invoice, payment, now)
    elif payment.status == InvoicePaymentStatus.FAILED:
        invoice_events.failed(invoice, payment, now, is_newly_past_due=not was_past_due)
    return payment


def _look_for_late_success(invoice: Invoice, payment: InvoicePayment, record: Payment | str) -> None:
    """Raise the alarm if a charge succeeds after its attempt had failed, and stop automatic charges."""
    if payment.status != InvoicePaymentStatus.FAILED or isinstance(record, str) or not record.received_microusd:
        return
    log.critical("invoice payment %s failed, and was paid after all; look at the provider", payment.id)
    if invoice.status in UNPAID:
        invoice.next_attempt_at = None
        invoice.save(update_fields=["next_attempt_at"])


def _judge(invoice: Invoice, payment: InvoicePayment, record: Payment, now: datetime) -> None:
    charge = charges.Charge(payment.id, payment.amount_microusd, payment.is_live)
    verdict, fault = charges.judge(charge, record, now - payment.created_at)
    payment.payment_ref = payment.payment_ref or record.ref
    if verdict is charges.ChargeVerdict.FAILED:
        _fail(invoice, payment, charges.failure_of(record), record.failure_reason, now)
        return
    if verdict is charges.ChargeVerdict.REVIEW and payment.failure_reason != fault:
        log.critical("invoice payment %s needs a decision; the invoice stays unpaid: %s", payment.id, fault)
    payment.status, payment.failure_reason = InvoicePaymentStatus(verdict.value), fault
    if verdict is not charges.ChargeVerdict.SUCCEEDED:
        payment.next_check_at = now + charges.next_check(now - payment.created_at)


def _fail(invoice: Invoice, payment: InvoicePayment, code: str, reason: str | None, now: datetime) -> None:
    """End an attempt and mark its invoice past due until it is paid.

    `_begin` cleared the time of the next attempt. If it is set now, a payment method was saved in the meantime
    (`invoices.collect_early`), and it stays.
    """
    payment.status, payment.failure_code, payment.failure_reason = InvoicePaymentStatus.FAILED, code, reason
    failures = invoice.payments.filter(status=InvoicePaymentStatus.FAILED).count() + 1
    invoice.status = InvoiceStatus.PAST_DUE
    invoice.next_attempt_at = invoice.next_attempt_at or rules.next_attempt(failures, now)
    invoice.save(update_fields=["status", "next_attempt_at"])


def _postpone(payment: InvoicePayment, now: datetime) -> None:
    """Reschedule the check of an attempt after the provider gave no answer, with growing delays."""
    later = now + charges.next_check(now - payment.created_at)
    InvoicePayment.objects.filter(pk=payment.id, status__in=PENDING).update(next_check_at=later)
