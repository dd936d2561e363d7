"""Send what is due to endpoints, and record what they answer.

A worker claims an endpoint for a short turn by a lease in its row, so that one worker at a time sends to it. If the worker dies, the
lease ends and another one goes on. What was sent and not recorded is sent again.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.conf import settings
from django.db import transaction
from django.db.models import Exists, F, OuterRef, Q, QuerySet

from gateway.core.database.purge import oldest_of
from gateway.core.database.purge import purge as purge_rows
from gateway.core.events.adapters.posting import Answer
from gateway.core.events.models import Delivery, DeliveryStatus, Endpoint, Event
from gateway.core.events.operations import endpoints
from gateway.core.events.rules.attempts import GONE, is_delivered, pause_after
from gateway.core.events.rules.secrets import signature

LEASE = timedelta(seconds=30)
"""How long a worker may send to an endpoint before another one may; twice what a turn takes."""

GONE_WORDS = "It answered 410 Gone: it wants no more events."


@dataclass(frozen=True, slots=True)
class Turn:
    """A worker's turn to send to one endpoint: its id and name, and the end of the lease."""

    endpoint_id: int
    name: str
    until: datetime


@dataclass(frozen=True, slots=True)
class Target:
    """Where a turn sends to, and the secrets that sign."""

    url: str
    secrets: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Message:
    """A delivery that is due. `owner` is whose event it is; the events of an owner are sent one after another."""

    delivery_id: int
    attempts: int
    owner: tuple[str, str]
    public_id: str
    body: bytes

    def headers(self, secrets: Sequence[str], *, timestamp: int) -> dict[str, str]:
        """Return the headers of an attempt (Standard Webhooks, "Webhook headers")."""
        return {
            "Content-Type": "application/json",
            "webhook-id": self.public_id,
            "webhook-timestamp": str(timestamp),
            "webhook-signature": signature(secrets, self.public_id, timestamp, self.body),
        }


@transaction.atomic
def claim(*, now: datetime, limit: int, failing: bool) -> list[Turn]:
    """Claim endpoints for which something is due, the one first whose last turn is longest ago; either those whose last attempts
    failed, or the others."""
    free = Endpoint.objects.filter(Q(claimed_until=None) | Q(claimed_until__lte=now), enabled=True)
    waiting = free.filter(Exists(_due(now).filter(endpoint=OuterRef("pk"))), failing_since__isnull=not failing)
    order = waiting.order_by(F("served_at").asc(nulls_first=True), "pk")
    rows = list(order.select_for_update(no_key=True, skip_locked=True).values_list("pk", "name")[:limit])
    Endpoint.objects.filter(pk__in=[pk for pk, _ in rows]).update(claimed_until=now + LEASE)
    return [Turn(pk, name, now + LEASE) for pk, name in rows]


def release(turn: Turn, *, now: datetime) -> None:
    """End a turn, unless its lease has ended and another worker has the endpoint."""
    Endpoint.objects.filter(pk=turn.endpoint_id, claimed_until=turn.until).update(claimed_until=None, served_at=now)


def target_of(turn: Turn, *, now: datetime) -> Target | None:
    """Return where a turn sends to; None if the endpoint is disabled by now."""
    endpoint = Endpoint.objects.filter(pk=turn.endpoint_id, enabled=True).first()
    if endpoint is None:
        return None
    is_rotating = endpoint.previous_secret_until is not None and now < endpoint.previous_secret_until
    previous = (endpoint.previous_secret,) if is_rotating and endpoint.previous_secret else ()
    return Target(endpoint.url, (endpoint.secret, *previous))


def due(turn: Turn, *, now: datetime, limit: int) -> list[Message]:
    """Return what is due for a turn's endpoint, in the order in which it became due."""
    rows = _due(now).filter(endpoint=turn.endpoint_id).order_by("next_at", "pk").select_related("event")[:limit]
    return [
        Message(
            delivery_id=row.pk,
            attempts=row.attempts,
            owner=(row.event.owner_kind, row.event.owner_key),
            public_id=row.event.public_id,
            body=(row.event.body or "").encode(),
        )
        for row in rows
    ]


def note(turn: Turn, message: Message, answer: Answer, *, now: datetime) -> bool:
    """Record what an endpoint answered; return whether it is still enabled.

    Nothing is recorded if the delivery was meanwhile sent by another worker, or is to be sent again.
    """
    is_gone = answer.status == GONE
    if is_gone:
        endpoints.disable(turn.endpoint_id, reason=GONE_WORDS)
    row = Delivery.objects.filter(pk=message.delivery_id, status=DeliveryStatus.DUE, attempts=message.attempts)
    if row.update(**_outcome(message.attempts + 1, answer, now)) and not is_gone:
        endpoint = Endpoint.objects.filter(pk=turn.endpoint_id)
        if is_delivered(answer.status):
            endpoint.filter(failing_since__isnull=False).update(failing_since=None)
        else:
            endpoint.filter(failing_since=None).update(failing_since=now)
    return not is_gone


def send_again(found: QuerySet[Delivery], *, now: datetime) -> int:
    """Make deliveries due, whatever became of them, with all of their attempts; return how many. A disabled endpoint gets none."""
    rows = Delivery.objects.filter(pk__in=found.values("pk"), endpoint__enabled=True)
    return rows.update(status=DeliveryStatus.DUE, attempts=0, next_at=now, delivered_at=None)


def purge(*, now: datetime) -> int:
    """Delete old events with their deliveries and mails; return how many. One that was not fanned out is kept."""
    before = now - timedelta(days=settings.EVENT_DAYS)
    return purge_rows(oldest_of(Event.objects.filter(created_at__lt=before, fanned_out_at__isnull=False)))


def _due(now: datetime) -> QuerySet[Delivery]:
    return Delivery.objects.filter(status=DeliveryStatus.DUE, next_at__lte=now)


def _outcome(attempts: int, answer: Answer, now: datetime) -> dict[str, object]:
    """Return the columns of a delivery after so many attempts."""
    changes: dict[str, object] = {
        "attempts": attempts,
        "attempted_at": now,
        "status_code": answer.status,
        "answer": answer.excerpt,
        "error": answer.error,
        "duration_milliseconds": answer.milliseconds,
    }
    if is_delivered(answer.status):
        return {**changes, "status": DeliveryStatus.DELIVERED, "delivered_at": now, "next_at": None}
    pause = None if answer.status == GONE else pause_after(attempts)
    if pause is None:
        return {**changes, "status": DeliveryStatus.FAILED, "next_at": None}
    return {**changes, "next_at": now + pause}
