"""Turns kinds of mails off and on: by the link of a mail, which works without signing in, and by switches.

A link is signed, names one kind of mails of one person about one owner, and does nothing else. It does not expire: mails are
kept for years.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import NamedTuple

from django.core import signing
from django.urls import reverse

from gateway.core.events.models import Mail, MailOptOut, MailStatus
from gateway.core.events.rules.mail_kinds import KINDS, MailKind

SALT = "gateway.core.events.unsubscribing"
TURNED_OFF = "Turned off by the person."


class Subject(NamedTuple):
    """What can be turned off: a kind of mails to one recipient about one owner."""

    recipient: str
    owner_kind: str
    owner_key: str
    kind: str

    @property
    def mail_kind(self) -> MailKind:
        """Return the kind itself."""
        return KINDS[self.kind]


def path_of(mail: Mail) -> str:
    """Return the path of the page that turns off this kind of mails."""
    subject = Subject(mail.recipient, mail.owner_kind, mail.owner_key, mail.kind)
    return reverse("mail_unsubscribe", args=[signing.Signer(salt=SALT).sign_object(list(subject), compress=True)])


def read(token: str) -> Subject | None:
    """Return what a link is for, or None for one that was not made here or is for what cannot be turned off."""
    try:
        subject = Subject(*signing.Signer(salt=SALT).unsign_object(token))
    except (signing.BadSignature, TypeError, ValueError):
        return None
    kind = KINDS.get(subject.kind)
    return subject if kind and kind.can_unsubscribe else None


def turn_off(*, subject: Subject, now: datetime) -> None:
    """Turn a kind of mails off, those that wait included; repeating changes nothing."""
    if not subject.mail_kind.can_unsubscribe:
        raise ValueError(f"{subject.kind} cannot be turned off")
    MailOptOut.objects.bulk_create([MailOptOut(**subject._asdict(), created_at=now)], ignore_conflicts=True)
    waiting = Mail.objects.filter(**subject._asdict(), status=MailStatus.DUE, claimed_until=None)
    waiting.update(status=MailStatus.UNSENT, next_at=None, error=TURNED_OFF, context="")


def turn_on(*, subject: Subject) -> None:
    """Turn a kind of mails on again; repeating changes nothing."""
    MailOptOut.objects.filter(**subject._asdict()).delete()


def set_all(*, wanted: Mapping[Subject, bool], now: datetime) -> None:
    """Turn kinds of mails on and off."""
    for subject, is_wanted in wanted.items():
        if is_wanted:
            turn_on(subject=subject)
        else:
            turn_off(subject=subject, now=now)


def is_off(subject: Subject) -> bool:
    """Return whether a kind of mails is turned off."""
    return MailOptOut.objects.filter(**subject._asdict()).exists()
