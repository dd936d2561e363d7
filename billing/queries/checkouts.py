"""Checkouts, and those that have to be checked."""

from datetime import datetime, timedelta

from django.db.models import Q, QuerySet

from billing.models import Checkout, CheckoutStatus, ProviderEvent
from billing.rules.owners import Owner

EVENT_MAX_AGE = timedelta(days=3)
PAGE = 20


def of_owner(owner: Owner) -> QuerySet[Checkout]:
    """Return an owner's checkouts, newest first."""
    kind, key = owner
    return Checkout.objects.filter(owner_kind=kind, owner_key=key).order_by("-created_at", "-id")


def paid_by(owner: Owner) -> QuerySet[Checkout]:
    """Return an owner's payments that have arrived, refunded ones included."""
    return of_owner(owner).filter(status=CheckoutStatus.PAID)


def due(provider: str, is_live: bool, now: datetime, limit: int) -> list[Checkout]:
    """Return the checkouts due to be checked at the provider with a key of this mode, the longest due first."""
    rows = Checkout.objects.filter(provider=provider, is_live=is_live, next_check_at__lte=now)
    return list(rows.order_by("next_check_at")[:limit])


def of_event(event: ProviderEvent) -> Checkout | None:
    """Find the checkout of an event by the event's own ids."""
    meant = Q(session_ref=event.object_ref) | Q(payment_ref=event.object_ref)
    if event.payment_ref is not None:
        meant |= Q(payment_ref=event.payment_ref)
    if event.transaction_id is not None:
        meant |= Q(id=event.transaction_id)
    return Checkout.objects.filter(meant, provider=event.provider).first()


def unhandled(provider: str, now: datetime, limit: int) -> list[ProviderEvent]:
    """Return unhandled events, newest first, so that an event that cannot be handled does not block the others.

    Events older than three days are skipped: scheduled jobs have checked their objects many times by then.
    """
    rows = ProviderEvent.objects.filter(
        provider=provider, handled_at__isnull=True, received_at__lte=now, received_at__gt=now - EVENT_MAX_AGE
    )
    return list(rows.order_by("-received_at")[:limit])
