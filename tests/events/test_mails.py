"""Mails of events: made once for each person, sent once, tried again, turned off."""

import json
from collections.abc import Callable
from datetime import datetime, timedelta
from functools import partial
from typing import Any

import pytest
from django.core import mail
from django.core.mail.backends.locmem import EmailBackend
from django.db import connection
from django.utils import timezone
from pytest_django import Settings

from gateway.core.events.adapters.mail_server import Answer, Outcome
from gateway.core.events.mail_people import Person
from gateway.core.events.mail_worker import MailWorker
from gateway.core.events.models import Mail
from gateway.core.events.operations import mails, unsubscribing
from gateway.core.events.operations.mails import LEASE, Postman, claim, finish
from gateway.core.events.operations.unsubscribing import Subject
from gateway.core.events.registry import MailDraft
from gateway.core.events.rules.mail_retries import PAUSES
from tests.events.mailing import ALICE, BOB, LOW, NOW, alarming, event, low
from tests.support.concurrency import at_once, eventually
from tests.support.mail_server import MailServer

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("with_mail")]

SUBJECT = Subject(ALICE.recipient, "organization", "org_1", "wallet")


def clock(now: datetime = NOW) -> Callable[[], datetime]:
    return lambda: now


def send(now: datetime = NOW) -> dict[str, int]:
    """Send what is due, as a worker does that has not seen the server fail."""
    return Postman().send_due(clock(now))


def state(one: Mail) -> tuple[str, int, datetime | None, str]:
    one.refresh_from_db()
    return one.status, one.attempts, one.next_at, one.error


class Failing(EmailBackend):
    """Raises what the test says instead of sending."""

    errors: list[Exception] = []

    def send_messages(self, messages: Any) -> int:
        if self.errors:
            raise self.errors.pop(0)
        return super().send_messages(messages)


@pytest.fixture
def failing(settings: Settings) -> list[Exception]:
    settings.EMAIL_BACKEND = f"{__name__}.Failing"
    Failing.errors.clear()
    return Failing.errors


def test_each_person_gets_one_mail_however_often_it_is_made() -> None:
    drafts = [MailDraft(one, "wallet_low", "wallet", LOW) for one in (ALICE, BOB, ALICE)]
    happened = event()
    mails.make(event=happened, drafts=drafts, now=NOW)
    mails.make(event=happened, drafts=drafts, now=NOW)
    assert send() == {"accepted": 2}
    assert send() == {}
    assert sorted((one.to[0], one.subject) for one in mail.outbox) == [
        ("alice@example.com", "$0.80 left in the wallet of Acme"),
        ("bob@example.com", "$0.80 left in the wallet of Acme"),
    ]


def test_what_is_sent_keeps_no_context() -> None:
    [one] = low()
    with connection.cursor() as cursor:
        cursor.execute("SELECT context FROM events_mail WHERE id = %s", [one.pk])
        stored = cursor.fetchone()[0]
    assert "Acme" not in stored, "it is encrypted until then"
    assert json.loads(one.context) == LOW
    send()
    assert state(one) == ("sent", 1, None, "")
    assert (one.context, one.sent_at, one.claim, one.claimed_until) == ("", NOW, None, None)


@pytest.mark.parametrize(
    ("person", "is_configured", "why"),
    [
        (Person("did:web:studio.example:carol", "Carol", ""), True, "The person has no verified email address."),
        (ALICE, False, "No mail server is configured."),
    ],
)
def test_what_cannot_be_sent_is_noted(settings: Settings, person: Person, is_configured: bool, why: str) -> None:
    settings.MAIL_IS_CONFIGURED = is_configured
    [one] = low(person)
    assert state(one) == ("unsent", 0, None, why)
    assert one.subject == "$0.80 left in the wallet of Acme"
    settings.MAIL_IS_CONFIGURED = True
    assert send() == {}, "what was not sent then is old news when a server comes"
    assert mail.outbox == []


def test_nothing_is_sent_while_no_server_is_configured(settings: Settings) -> None:
    [one] = low()
    settings.MAIL_IS_CONFIGURED = False
    assert send() == {}
    assert state(one) == ("due", 0, NOW, "")


def test_who_turned_a_kind_off_gets_none_of_it_about_that_owner() -> None:
    unsubscribing.turn_off(subject=SUBJECT, now=NOW)
    alice, bob = low(ALICE, BOB)
    [elsewhere] = low(ALICE, org_id="org_2")
    alarm = alarming()
    assert state(alice) == ("unsent", 0, None, "Turned off by the person.")
    assert send() == {"accepted": 3}
    assert [state(one)[0] for one in (alice, bob, elsewhere, alarm)] == ["unsent", "sent", "sent", "sent"]
    unsubscribing.turn_on(subject=SUBJECT)
    [again] = low()
    assert state(again)[0] == "due"


def test_turning_off_stops_what_waits() -> None:
    alice, bob = low(ALICE, BOB)
    unsubscribing.turn_off(subject=SUBJECT, now=NOW)
    assert state(alice) == ("unsent", 0, None, "Turned off by the person.")
    assert state(bob)[0] == "due"


def test_turning_off_stops_what_is_claimed_and_not_sent_yet() -> None:
    [one] = low()
    claimed = claim(now=NOW)
    assert claimed is not None
    unsubscribing.turn_off(subject=SUBJECT, now=NOW)
    assert mails._attempt(claimed, None).outcome is Outcome.UNWANTED  # type: ignore[arg-type]
    finish(mail=claimed, answer=Answer(Outcome.UNWANTED, "Turned off by the person."), now=NOW)
    assert state(one) == ("unsent", 1, None, "Turned off by the person.")


def test_security_mail_cannot_be_turned_off() -> None:
    with pytest.raises(ValueError, match="cannot be turned off"):
        unsubscribing.turn_off(subject=SUBJECT._replace(kind="security"), now=NOW)


def test_a_failure_is_tried_again_with_growing_pauses_and_given_up_after_three_days(failing: list[Exception]) -> None:
    [one] = low()
    now = NOW
    for attempt, pause in enumerate(PAUSES, 1):
        failing.append(RuntimeError("not now"))
        assert send(now) == {"postponed": 1}
        assert state(one) == ("due", attempt, now + pause, "RuntimeError: not now")
        assert send(now + pause - timedelta(seconds=1)) == {}
        now += pause
    assert timedelta(days=2, hours=20) < now - NOW < timedelta(days=3)
    failing.append(RuntimeError("not now"))
    send(now)
    assert state(one) == ("failed", len(PAUSES) + 1, None, "RuntimeError: not now")
    assert mail.outbox == []


def test_a_mail_that_failed_is_sent_again_at_an_operators_wish(failing: list[Exception]) -> None:
    [one] = low()
    finish(mail=claim(now=NOW) or one, answer=Answer(Outcome.REFUSED, "550 unknown"), now=NOW)
    assert state(one) == ("failed", 1, None, "550 unknown")
    assert mails.send_again(mail_id=one.pk, now=NOW)
    assert send() == {"accepted": 1}
    assert not mails.send_again(mail_id=one.pk, now=NOW), "it was sent"
    assert len(mail.outbox) == 1


def test_a_server_that_is_away_ends_the_run_and_costs_the_others_no_attempt(failing: list[Exception]) -> None:
    alice, bob = low(ALICE, BOB)
    failing.append(ConnectionRefusedError("refused"))
    postman = Postman()
    assert postman.send_due(clock()) == {"away": 1}
    assert postman.send_due(clock()) == {}, "it is left alone for a moment"
    assert state(alice) == ("due", 1, NOW + PAUSES[0], "ConnectionRefusedError: refused")
    assert state(bob) == ("due", 0, NOW, "")
    postman.forget()
    assert postman.send_due(clock()) == {"accepted": 1}


def test_a_mail_that_cannot_be_rendered_stops_no_other() -> None:
    broken, good = low(ALICE, BOB)
    Mail.objects.filter(pk=broken.pk).update(template="no_such_template")
    assert send() == {"postponed": 1, "accepted": 1}
    assert state(broken) == ("due", 1, NOW + PAUSES[0], "TemplateDoesNotExist while it was rendered")
    assert state(good)[0] == "sent"


def test_a_worker_that_died_leaves_the_mail_until_its_lease_ends() -> None:
    [one] = low()
    lost = claim(now=NOW)
    assert lost is not None
    assert send(NOW + LEASE - timedelta(seconds=1)) == {}
    assert send(NOW + LEASE) == {"accepted": 1}
    finish(mail=lost, answer=Answer(Outcome.REFUSED, "550 late"), now=NOW + LEASE)
    assert state(one) == ("sent", 2, None, ""), "what the lost worker says later is not noted"


def test_a_postman_that_is_stopped_begins_no_further_mail() -> None:
    low()
    postman = Postman()
    postman.stop()
    assert postman.send_due(clock()) == {}
    assert send() == {"accepted": 1}


@pytest.mark.django_db(transaction=True)
def test_two_workers_send_each_mail_once() -> None:
    people = [Person(f"did:web:studio.example:p{n}", "", f"p{n}@example.com") for n in range(40)]
    low(*people)
    workers = [partial(Postman().send_due, clock()) for _ in range(4)]
    counts = at_once(*workers)
    assert sum(one.get("accepted", 0) for one in counts) == 40
    assert sorted(one.to[0] for one in mail.outbox) == sorted(one.address for one in people)
    assert len({one.extra_headers["Message-ID"] for one in mail.outbox}) == 40


@pytest.mark.django_db(transaction=True)
def test_a_worker_sends_until_it_is_stopped(mail_server: MailServer) -> None:
    worker = MailWorker()
    worker.start()
    try:
        for person in (ALICE, BOB):
            [one] = low(person)
            Mail.objects.filter(pk=one.pk).update(next_at=timezone.now())
            eventually(lambda one=one: state(one)[0] == "sent")  # type: ignore[misc]
    finally:
        worker.stop()
    assert [one["To"] for one in mail_server.messages] == [ALICE.address, BOB.address]
    eventually(lambda: not worker._thread.is_alive())
    [late] = low()
    assert state(late)[0] == "due"
