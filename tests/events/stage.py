"""Endpoints and events for tests."""

from datetime import datetime
from typing import Any

from django.db import transaction
from django.utils import timezone

from gateway.core.events.models import Delivery, Endpoint, Event
from gateway.core.events.operations import endpoints
from gateway.core.events.operations.fanning_out import fan_out
from gateway.core.events.operations.recording import record
from tests.support.event_receiver import SECRET

ALICE, BOB = "did:web:studio.example:alice", "did:web:courier.example:bob"


def endpoint(name: str = "studio", *types: str, product: str = "", **fields: Any) -> Endpoint:
    """Set an endpoint up; its product is its name unless another one is named, its types all of them."""
    values = {"url": f"https://{name}.example/hooks", "secret": SECRET, **fields}
    made = Endpoint(name=name, product=product or name, types=list(types or ("usage.*", "wallet.*")), **values)
    endpoints.save(made)
    return made


def happen(type_: str = "usage.settled", owner: str = ALICE, *, product: str | None = None, **data: Any) -> Event:
    """Record an event of an account, one of a call by default."""
    if type_.startswith("usage."):
        product = product or "studio"
    with transaction.atomic():
        made = record(owner_kind="account", owner_key=owner, type=type_, data=data, product=product)
    return Event.objects.get(pk=made)


def spread(now: datetime | None = None) -> int:
    """Fan out all that waits; return how many events there were."""
    total = 0
    while count := fan_out(now=now or timezone.now()):
        total += count
    return total


def recipients(event: Event) -> list[str]:
    """Return the names of the endpoints that an event goes to."""
    return sorted(Delivery.objects.filter(event=event).values_list("endpoint__name", flat=True))
