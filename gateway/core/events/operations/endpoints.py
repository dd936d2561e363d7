"""Set up endpoints: their subscriptions, secrets and tests."""

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Any

from django.db import transaction

from gateway.core.database.turns import take_turn
from gateway.core.events.models import Delivery, Endpoint, Event, OwnerKind, Subscription
from gateway.core.events.operations.recording import record
from gateway.core.events.rules.bodies import render
from gateway.core.events.rules.secrets import key_of
from gateway.core.events.rules.types import TEST_TYPE, types_of

CONFIGURED = (
    *("name", "product", "url", "types", "enabled", "disabled_reason"),
    *("secret", "previous_secret", "previous_secret_until"),
)
"""The columns that an operator sets."""

ROTATION = timedelta(hours=24)
"""How long events are signed with the previous secret as well."""


@transaction.atomic
def save(endpoint: Endpoint) -> None:
    """Store what an operator sets of an endpoint, and let paid calls know which of their events somebody gets.

    One that is enabled again begins without a failure; what is due for it is sent.
    """
    lock_subscriptions()
    changed = list(CONFIGURED)
    if endpoint.enabled:
        endpoint.disabled_reason = ""
    if endpoint.enabled and Endpoint.objects.filter(pk=endpoint.pk, enabled=False).exists():
        endpoint.failing_since = None
        changed.append("failing_since")
    # What workers write of it is left alone.
    endpoint.save(update_fields=None if endpoint._state.adding else changed)  # noqa: SLF001 (documented)
    refresh_subscriptions()


@transaction.atomic
def disable(endpoint_id: int, *, reason: str) -> bool:
    """Disable an endpoint; return whether it was enabled."""
    lock_subscriptions()
    changed = Endpoint.objects.filter(pk=endpoint_id, enabled=True).update(enabled=False, disabled_reason=reason)
    if changed:
        refresh_subscriptions()
    return bool(changed)


@transaction.atomic
def rotate(endpoint_id: int, *, secret: str, now: datetime) -> None:
    """Replace an endpoint's secret; the present one remains valid for ROTATION. Raises ValueError if it is no secret."""
    key_of(secret)
    endpoint = Endpoint.objects.select_for_update(no_key=True).get(pk=endpoint_id)
    if replace_secret(endpoint, secret, now=now):
        endpoint.save(update_fields=["secret", "previous_secret", "previous_secret_until"])


def replace_secret(endpoint: Endpoint, secret: str, *, now: datetime) -> bool:
    """Set an endpoint's secret, without storing it; return whether it is another one."""
    if endpoint.secret == secret:
        return False
    if endpoint.secret:
        endpoint.previous_secret, endpoint.previous_secret_until = endpoint.secret, now + ROTATION
    endpoint.secret = secret
    return True


@transaction.atomic
def send_test(endpoint_id: int, *, now: datetime) -> Delivery:
    """Send an event of the type TEST_TYPE to one endpoint, whatever its types; return its delivery, which is due."""
    endpoint = Endpoint.objects.get(pk=endpoint_id)
    owner = {"owner_kind": OwnerKind.ENDPOINT.value, "owner_key": endpoint.name}
    data = {"endpoint": endpoint.name}
    event = Event.objects.get(pk=record(**owner, type=TEST_TYPE, data=data, product=endpoint.product, now=now))
    event.body, event.fanned_out_at = body_of(event, data), now
    event.save(update_fields=["body", "fanned_out_at"])
    return Delivery.objects.create(event=event, endpoint=endpoint, next_at=now)


def lock_subscriptions() -> None:
    """Wait for all others who change endpoints. Called before an endpoint is locked, so that two never wait for each other."""
    take_turn("subscriptions of events")


def refresh_subscriptions() -> None:
    """Make the subscriptions those of the enabled endpoints. The caller has locked them."""
    wanted = {
        (endpoint.product, type_)
        for endpoint in Endpoint.objects.filter(enabled=True)
        for type_ in concrete(endpoint.types)
    }
    stored = set(Subscription.objects.values_list("product", "type"))
    for product, type_ in stored - wanted:
        Subscription.objects.filter(product=product, type=type_).delete()
    Subscription.objects.bulk_create([Subscription(product=product, type=type_) for product, type_ in wanted - stored])


def concrete(patterns: Iterable[str]) -> set[str]:
    """Return the types that an endpoint's patterns name."""
    return {type_ for pattern in patterns for type_ in types_of(pattern)}


def body_of(event: Event, data: dict[str, Any]) -> str:
    """Render what product servers get of an event."""
    return render(
        public_id=event.public_id,
        type_=event.type,
        created_at=event.created_at,
        sequence=event.sequence,
        data=data,
    )
