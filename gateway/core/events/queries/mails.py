"""What people were told, and the kinds of mails that they have turned off."""

from collections.abc import Iterable
from typing import NamedTuple

from django.db.models import QuerySet

from gateway.core.events.mail_people import Concern
from gateway.core.events.models import Mail, MailOptOut
from gateway.core.events.operations.unsubscribing import Subject
from gateway.core.events.rules.mail_kinds import INVITATION, MailKind

SEPARATOR = "|"


class Switch(NamedTuple):
    """A kind of mails about one owner, and whether a person gets it. `value` is its name in a form."""

    subject: Subject
    kind: MailKind
    is_on: bool

    @property
    def value(self) -> str:
        """Return a text that differs from that of each other switch of the person."""
        return SEPARATOR.join(self.subject[1:])


class Group(NamedTuple):
    """The switches of one owner; `name` is empty for a person's own account."""

    name: str
    switches: list[Switch]


def of_recipient(did: str) -> QuerySet[Mail]:
    """Return what a person was told, newest first, with its events."""
    return Mail.objects.filter(recipient=did).select_related("event").defer("context").order_by("-id")


def of_owner(owner_kind: str, owner_key: str) -> QuerySet[Mail]:
    """Return what people were told about an owner, newest first, with its events. Invitations are left out: not everybody who manages
    an organization's money may see who is invited.
    """
    found = Mail.objects.filter(owner_kind=owner_kind, owner_key=owner_key).exclude(kind=INVITATION.name)
    return found.select_related("event").defer("context").order_by("-id")


def turned_off(did: str) -> QuerySet[MailOptOut]:
    """Return the kinds of mails that a person has turned off, the first one first."""
    return MailOptOut.objects.filter(recipient=did).order_by("created_at", "owner_key", "kind")


def switches(did: str, concerns: Iterable[Concern]) -> list[Group]:
    """Return a person's switches, by owner."""
    off = {Subject(did, one.owner_kind, one.owner_key, one.kind) for one in turned_off(did)}
    return [Group(concern.name, _switches(did, concern, off)) for concern in concerns]


def _switches(did: str, concern: Concern, off: set[Subject]) -> list[Switch]:
    subjects = [(Subject(did, concern.owner_kind, concern.owner_key, kind.name), kind) for kind in concern.kinds]
    return [Switch(subject, kind, subject not in off) for subject, kind in subjects]
