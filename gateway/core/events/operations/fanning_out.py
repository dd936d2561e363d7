"""Turn events into deliveries to product servers and mails to people.

One fan-out runs at a time, so the deliveries of each endpoint are made in the order of the events. It may be killed at any point:
an event's deliveries and mails, and the mark that they were made, are one transaction.
"""

import logging
from collections.abc import Sequence
from datetime import datetime, timedelta

from django.db import InterfaceError, OperationalError, transaction
from django.db.models import Q
from django.db.models.functions import Now

from gateway.core.database.turns import try_turn
from gateway.core.events.models import Delivery, Endpoint, Event
from gateway.core.events.operations import mails
from gateway.core.events.operations.endpoints import body_of, concrete
from gateway.core.events.registry import EventKind, kind_of
from gateway.core.runtime.logs import RecurringLog

LIMIT = 100
"""The most events of one transaction."""

RETRY = timedelta(minutes=1)
"""When an event is tried again whose app could not say what becomes of it."""

_failed = RecurringLog("gateway.events", logging.ERROR)


@transaction.atomic
def fan_out(*, now: datetime, limit: int = LIMIT) -> int:
    """Fan out the oldest events that wait; return how many there were, none while another fan-out runs.

    An event whose body, audience or mails cannot be found because of an error waits for RETRY, and later ones overtake it.
    """
    if not try_turn("fan-out of events"):
        return 0
    waiting = Event.objects.filter(Q(retry_at=None) | Q(retry_at__lte=now), fanned_out_at=None).order_by("pk")
    endpoints = list(Endpoint.objects.filter(enabled=True).only("product", "types"))
    return _attempt(list(waiting[:limit]), endpoints, now)


def _attempt(events: Sequence[Event], endpoints: Sequence[Endpoint], now: datetime) -> int:
    """Fan events out together, or one by one if one of them fails; return how many were fanned out."""
    try:
        with transaction.atomic():
            _fan_out(events, endpoints, now)
    except (InterfaceError, OperationalError):
        raise  # the database, and not an event
    except Exception as error:  # noqa: BLE001 - an event must not stop the others
        if len(events) > 1:
            return sum(_attempt([event], endpoints, now) for event in events)
        _wait(events[0], error, now)
        return 0
    return len(events)


def _wait(event: Event, error: Exception, now: datetime) -> None:
    _failed.write(event.type, f"{event} waits for its fan-out: {type(error).__name__}: {error}")
    Event.objects.filter(pk=event.pk).update(retry_at=now + RETRY)


def _fan_out(events: Sequence[Event], endpoints: Sequence[Endpoint], now: datetime) -> None:
    deliveries = []
    for event in events:
        kind = kind_of(event.type)
        audience = _audience(event, kind, endpoints)
        event.fanned_out_at, event.body = now, body_of(event, kind.body(event)) if audience else None
        # The database's clock, because those of several workers differ: deliveries are sent in the order of `next_at`.
        deliveries += [Delivery(event=event, endpoint=endpoint, next_at=Now()) for endpoint in audience]
        mails.make(event=event, drafts=kind.mails(event), now=now)
    Delivery.objects.bulk_create(deliveries, ignore_conflicts=True)
    Event.objects.bulk_update(events, ["fanned_out_at", "body"])


def _audience(event: Event, kind: EventKind, endpoints: Sequence[Endpoint]) -> list[Endpoint]:
    """Return the endpoints that get an event: those of its audience's products that subscribe to its type."""
    subscribed = [endpoint for endpoint in endpoints if kind.is_public and event.type in concrete(endpoint.types)]
    if not subscribed:
        return []
    products = set(kind.audience(event))
    return [endpoint for endpoint in subscribed if endpoint.product in products]
