"""Checkouts and what is still to be done about them."""

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
    """Return an owner's payments whose money has arrived, refunded ones included."""
    return of_owner(owner).filter(status=CheckoutStatus.PAID)


def due(provider: str, is_live: bool, now: datetime, limit: int) -> list[Checkout]:
    """Return the checkouts that the provider is to be asked about with a key of this mode, the longest due first."""
    rows = Checkout.objects.filter(provider=provider, is_live=is_live, next_check_at__lte=now)
    return list(rows.order_by("next_check_at")[:limit])


def about(event: ProviderEvent) -> Checkout | None:
    """Find the checkout that an event is about by what the event itself says."""
    meant = Q(session_ref=event.object_ref) | Q(payment_ref=event.object_ref)
    if event.payment_ref is not None:
        meant |= Q(payment_ref=event.payment_ref)
    if event.transaction_id is not None:
        meant |= Q(id=event.transaction_id)
    return Checkout.objects.filter(meant, provider=event.provider).first()


def unhandled(provider: str, now: datetime, limit: int) -> list[ProviderEvent]:
    """Return events that nobody has dealt with yet, the newest first, so that one that nobody can settle is in no way.

    Those of more than three days are left: the schedule has compared what they are about many times.
    """
    rows = ProviderEvent.objects.filter(
        provider=provider, handled_at__isnull=True, received_at__lte=now, received_at__gt=now - EVENT_MAX_AGE
    )
    return list(rows.order_by("-received_at")[:limit])
