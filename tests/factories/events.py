"""What was recorded, as tests compare it."""

from typing import Any

from gateway.core.events.models import Event, Subscription

Recorded = tuple[str, dict[str, Any]]


def recorded(owner_key: str, *groups: str) -> list[Recorded]:
    """Return type and data of an owner's events, in order; with groups ("wallet"), only theirs."""
    events = Event.objects.filter(owner_key=owner_key).order_by("sequence")
    return [(event.type, event.data) for event in events if not groups or event.type.partition(".")[0] in groups]


def types(owner_key: str, *groups: str) -> list[str]:
    """Return only the types."""
    return [type_ for type_, _ in recorded(owner_key, *groups)]


def subscribe(product: str, *types: str) -> None:
    """Subscribe some endpoint of a product to these types."""
    Subscription.objects.bulk_create(Subscription(product=product, type=type_) for type_ in types)
