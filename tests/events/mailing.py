"""Events with mails, without the apps that know what they say."""

from datetime import UTC, datetime
from typing import Any

from django.db import transaction

from gateway.core.events.mail_people import Person
from gateway.core.events.models import Event, Mail
from gateway.core.events.operations import mails
from gateway.core.events.operations.recording import record
from gateway.core.events.registry import MailDraft

NOW = datetime(2030, 1, 2, 3, 4, 5, tzinfo=UTC)
ALICE = Person("did:web:studio.example:alice", "Alice", "alice@example.com")
BOB = Person("did:web:studio.example:bob", "Bob", "bob@example.com")
LOW = {"available": "$0.80", "threshold": "$1.00", "wallet_path": "/wallet", "owner_name": "Acme"}


@transaction.atomic
def event(type_: str = "wallet.low", org_id: str = "org_1", **data: Any) -> Event:
    """Record an event of an organization."""
    recorded = record(owner_kind="organization", owner_key=org_id, type=type_, data=data, now=NOW)
    return Event.objects.get(pk=recorded)


def low(*people: Person, **more: Any) -> list[Mail]:
    """Make the mails of a low wallet; return the mails in their order."""
    drafts = [MailDraft(one, "wallet_low", "wallet", LOW) for one in people or [ALICE]]
    happened = event(**more)
    mails.make(event=happened, drafts=drafts, now=NOW)
    return list(Mail.objects.filter(event=happened).order_by("pk"))


def alarming(person: Person = ALICE) -> Mail:
    """Make the mail of a second factor, which nobody can turn off."""
    context = {"factor": "A passkey", "factor_name": "key", "at": "now", "security_path": "/account/2fa/"}
    happened = event("second_factor.added")
    mails.make(event=happened, drafts=[MailDraft(person, "second_factor_added", "security", context)], now=NOW)
    return Mail.objects.get(event=happened)
