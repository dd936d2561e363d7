"""Makes mails of events, and sends them.

Each mail is claimed alone, with a lease in its row, so that two workers do not send it twice. A worker that dies between sending
and noting it leaves the mail to be sent again after the lease, with the same `Message-ID`.
"""

import json
import logging
import time
import uuid
from collections.abc import Callable, Collection, Iterable
from datetime import datetime, timedelta

from django.conf import settings
from django.db import transaction
from django.db.models import Q, QuerySet

from gateway.core.events.adapters.mail_server import Answer, MailServer, Outcome
from gateway.core.events.models import Event, Mail, MailOptOut, MailStatus
from gateway.core.events.operations.unsubscribing import TURNED_OFF, Subject, is_off
from gateway.core.events.queries.mail_messages import message_of, subject_of
from gateway.core.events.registry import MailDraft
from gateway.core.events.rules.mail_kinds import KINDS
from gateway.core.events.rules.mail_retries import pause_after

LEASE = timedelta(minutes=5)
"""Longer than the attempt to send a mail can take."""

RUN_SECONDS = 30.0
AWAY_SECONDS = 30.0
"""How long a worker leaves a mail server alone that cannot be reached."""

NO_SERVER = "No mail server is configured."
NO_ADDRESS = "The person has no verified email address."

log = logging.getLogger("gateway.mails")


def make(*, event: Event, drafts: Iterable[MailDraft], now: datetime) -> None:
    """Add the mails of an event, one for each person; repeating adds nothing.

    Whoever has turned off the kind, or has no verified address, gets a row without a mail, and so does everybody where no mail
    server is set: the portal shows it.
    """
    by_person = {draft.person.recipient: draft for draft in drafts}
    off = set(
        MailOptOut.objects.filter(
            owner_kind=event.owner_kind, owner_key=event.owner_key, recipient__in=by_person
        ).values_list("recipient", "kind")
    )
    rows = [_row(event, draft, is_off=(who, draft.kind) in off, now=now) for who, draft in by_person.items()]
    Mail.objects.bulk_create(rows, ignore_conflicts=True)


def _row(event: Event, draft: MailDraft, *, is_off: bool, now: datetime) -> Mail:
    mail = Mail(
        event=event,
        recipient=draft.person.recipient,
        to=draft.person.address,
        name=draft.person.name,
        owner_kind=event.owner_kind,
        owner_key=event.owner_key,
        kind=draft.kind,
        template=draft.template,
        subject=subject_of(draft.template, draft.context),
        can_unsubscribe=KINDS[draft.kind].can_unsubscribe,
        created_at=now,
    )
    if reason := _why_unsent(mail, is_off=is_off):
        mail.status, mail.error = MailStatus.UNSENT, reason
    else:
        mail.next_at, mail.context = now, json.dumps(draft.context)
    return mail


def _why_unsent(mail: Mail, *, is_off: bool) -> str:
    if is_off and mail.can_unsubscribe:
        return TURNED_OFF
    if not settings.MAIL_IS_CONFIGURED:
        return NO_SERVER
    return "" if mail.to else NO_ADDRESS


class Postman:
    """Sends mails one after another, and none for a moment after the server could not be reached."""

    def __init__(self) -> None:
        self._away_until = 0.0
        self._is_over = False

    def send_due(self, clock: Callable[[], datetime]) -> dict[str, int]:
        """Send what is due, for RUN_SECONDS at most; return how many mails ended how."""
        counts: dict[str, int] = {}
        if not settings.MAIL_IS_CONFIGURED or time.monotonic() < self._away_until:
            return counts
        server, until = MailServer(), time.monotonic() + RUN_SECONDS
        try:
            while not self._is_over and time.monotonic() < until and (mail := claim(now=clock())) is not None:
                answer = _attempt(mail, server)
                finish(mail=mail, answer=answer, now=clock())
                counts[answer.outcome.value] = counts.get(answer.outcome.value, 0) + 1
                if answer.outcome is Outcome.AWAY:
                    self._away_until = time.monotonic() + AWAY_SECONDS
                    break
        finally:
            server.close()
        return counts

    def stop(self) -> None:
        """Begin no further mail. Any thread may call this."""
        self._is_over = True

    def forget(self) -> None:
        """Forget that the server could not be reached."""
        self._away_until = 0.0


@transaction.atomic
def claim(*, now: datetime) -> Mail | None:
    """Take the mail that is due first, for LEASE, and count the attempt. Nobody else gets it meanwhile."""
    free = Mail.objects.filter(
        Q(claimed_until=None) | Q(claimed_until__lte=now), status=MailStatus.DUE, next_at__lte=now
    )
    mail = (
        free.select_for_update(skip_locked=True, of=("self",)).select_related("event").order_by("next_at", "id").first()
    )
    if mail is not None:
        mail.claim, mail.claimed_until, mail.attempts = uuid.uuid4(), now + LEASE, mail.attempts + 1
        mail.save(update_fields=["claim", "claimed_until", "attempts"])
    return mail


def finish(*, mail: Mail, answer: Answer, now: datetime) -> None:
    """Note what became of a claimed mail, unless another worker has claimed it since."""
    _FINISH[answer.outcome](mail, answer, now)


def repeatable() -> QuerySet[Mail]:
    """Return the mails that failed and whose text is still there."""
    return Mail.objects.filter(status=MailStatus.FAILED).exclude(context="")


def send_again(*, mail_id: int, now: datetime) -> bool:
    """Mark a failed mail to be sent again, at an operator's wish; return False for any other."""
    return bool(repeatable().filter(pk=mail_id).update(status=MailStatus.DUE, next_at=now, attempts=0))


def forget(recipients: Collection[str]) -> None:
    """Delete what these recipients were told and what they have turned off."""
    Mail.objects.filter(recipient__in=recipients).delete()
    MailOptOut.objects.filter(recipient__in=recipients).delete()


def _attempt(mail: Mail, server: MailServer) -> Answer:
    if mail.can_unsubscribe and is_off(Subject(mail.recipient, mail.owner_kind, mail.owner_key, mail.kind)):
        return Answer(Outcome.UNWANTED, TURNED_OFF)
    try:
        message = message_of(mail)
    except Exception as error:
        log.exception("mail %s cannot be rendered", mail.pk)
        return Answer(Outcome.POSTPONED, f"{type(error).__name__} while it was rendered")
    return server.send(message)


def _update(mail: Mail, **values: object) -> None:
    Mail.objects.filter(pk=mail.pk, claim=mail.claim).update(claim=None, claimed_until=None, **values)


def _sent(mail: Mail, answer: Answer, now: datetime) -> None:
    _update(mail, status=MailStatus.SENT, sent_at=now, next_at=None, error="", context="")


def _failed(mail: Mail, answer: Answer, now: datetime) -> None:
    log.warning("mail %s (%s) failed: %s", mail.pk, mail.kind, answer.error)
    _update(mail, status=MailStatus.FAILED, next_at=None, error=answer.error)


def _unwanted(mail: Mail, answer: Answer, now: datetime) -> None:
    _update(mail, status=MailStatus.UNSENT, next_at=None, error=answer.error, context="")


def _later(mail: Mail, answer: Answer, now: datetime) -> None:
    pause = pause_after(mail.attempts)
    if pause is None:
        _failed(mail, answer, now)
    else:
        _update(mail, next_at=now + pause, error=answer.error)


_FINISH = {
    Outcome.ACCEPTED: _sent,
    Outcome.REFUSED: _failed,
    Outcome.UNWANTED: _unwanted,
    Outcome.POSTPONED: _later,
    Outcome.AWAY: _later,
}
