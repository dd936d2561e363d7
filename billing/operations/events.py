"""Accept a payment provider's events and act on them."""

import logging
from datetime import datetime, timedelta

from django.conf import settings

from billing.adapters import configured
from billing.adapters.base import SignatureInvalid
from billing.models import AutoTopUpCharge, Checkout, InvoicePayment, ProviderEvent
from billing.operations import auto_top_up_charges, checkouts, invoice_payments
from billing.queries import auto_top_ups, invoices
from billing.queries import checkouts as queries
from gateway.core.contract.errors import IntegrationUnavailable, InvalidRequest
from gateway.core.database.purge import purge as purge_rows

log = logging.getLogger("billing.events")


def receive(payload: bytes, signature: str, *, now: datetime) -> ProviderEvent | None:
    """Store a signed event once; return None if it was stored before or cannot concern this gateway.

    Raises InvalidRequest if the signature is invalid, too old or dated in the future, and IntegrationUnavailable if no
    secret is configured: an unsigned event is never accepted.
    """
    provider = configured.require()
    if not settings.STRIPE_WEBHOOK_SECRET:
        raise IntegrationUnavailable
    try:
        event = provider.event(payload, signature, settings.STRIPE_WEBHOOK_SECRET)
    except SignatureInvalid as error:
        log.warning("webhook event refused: %s", error)
        raise InvalidRequest("The signature is not valid.") from error
    if not event.is_relevant:
        return None
    stored, is_new = ProviderEvent.objects.get_or_create(
        provider=provider.name,
        event_id=event.event_id,
        defaults={
            "type": event.type,
            "object_ref": event.object_ref,
            "payment_ref": event.payment_ref,
            "transaction_id": event.transaction_id,
            "received_at": now,
        },
    )
    return stored if is_new else None


def handle(event: ProviderEvent, *, now: datetime) -> Checkout | None:
    """Make the checkout, automatic charge or invoice payment that an event refers to match the provider's record; return the
    checkout, or None if the event refers to none.

    Raises IntegrationUnavailable or a ProviderError if the provider does not respond; the event is retried then.
    """
    about = _about(event)
    checkout = None
    if isinstance(about, Checkout):
        checkout = checkouts.converge(about, now=now)
        event.checkout_id = checkout.id
    elif isinstance(about, AutoTopUpCharge):
        auto_top_up_charges.converge(about, now=now)
    elif about is not None:
        invoice_payments.converge(about, now=now)
    event.handled_at = now
    event.save(update_fields=["checkout_id", "handled_at"])
    return checkout


def purge(*, now: datetime) -> int:
    """Delete the events that are no longer needed; return how many there were.

    The provider resends an event for three days. By then, scheduled jobs have checked its object many times.
    """
    before = now - timedelta(days=settings.PROVIDER_EVENT_DAYS)
    return purge_rows(ProviderEvent.objects.filter(received_at__lt=before).order_by("received_at"))


def _about(event: ProviderEvent) -> Checkout | AutoTopUpCharge | InvoicePayment | None:
    """Find the object of an event by the event's own ids, or else by the metadata that the provider stores with the
    payment, which may name its transaction before our records name the payment."""
    found = queries.of_event(event) or auto_top_ups.of_event(event) or invoices.attempt_of_event(event)
    if found is not None or event.payment_ref is None:
        return found
    provider = configured.require()
    transaction_id = provider.transaction_of(event.payment_ref)
    if transaction_id is None:
        return None
    named = {"pk": transaction_id, "provider": provider.name}
    return (
        Checkout.objects.filter(**named).first()
        or AutoTopUpCharge.objects.filter(**named).first()
        or InvoicePayment.objects.filter(**named).first()
    )
