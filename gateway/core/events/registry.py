"""Lists what becomes of each type of event. Each app registers its own types at start-up."""

from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from typing import Any

from gateway.core.events.models import Event
from gateway.core.events.rules.types import ALL_TYPES, PUBLIC_TYPES


@dataclass(frozen=True)
class MailDraft:
    """A mail to one address. `template` names its files, `context` is what they read (JSON values only).

    `kind` is what a person unsubscribes from, if `can_unsubscribe`. It is stored encrypted, so `context` may hold a secret link.
    """

    to: str
    name: str
    template: str
    context: dict[str, Any] = field(default_factory=dict)
    can_unsubscribe: bool = False
    kind: str = ""


def _recorded(event: Event) -> dict[str, Any]:
    return dict(event.data)


def _own_product(event: Event) -> Collection[str]:
    return {event.product} if event.product is not None else set()


def _nobody(event: Event) -> list[MailDraft]:
    return []


@dataclass(frozen=True)
class EventKind:
    """A type of events. The functions are called once for each event, in the transaction of its fan-out.

    `body` returns the public `data`, `audience` the products whose endpoints get the event, and `mails` what is sent to
    people. Of an internal type, product servers get nothing, whatever `audience` returns.
    """

    type: str
    is_public: bool = True
    body: Callable[[Event], dict[str, Any]] = _recorded
    audience: Callable[[Event], Collection[str]] = _own_product
    mails: Callable[[Event], list[MailDraft]] = _nobody


_kinds: dict[str, EventKind] = {}


def register(*kinds: EventKind) -> None:
    """Register types of events, each once. Raises ValueError for a type that `rules.types` does not list like this."""
    for kind in kinds:
        if kind.type not in ALL_TYPES or kind.is_public != (kind.type in PUBLIC_TYPES):
            raise ValueError(f"{kind.type} is not listed as {'public' if kind.is_public else 'internal'}")
        _kinds[kind.type] = kind


def kind_of(type_: str) -> EventKind:
    """Return what becomes of a type. One that no app has registered goes to its own product as it was recorded."""
    return _kinds.get(type_) or EventKind(type_, is_public=type_ in PUBLIC_TYPES)
