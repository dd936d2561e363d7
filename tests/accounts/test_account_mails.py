"""Mails about accounts: to a verified address, and about what concerns the account's security."""

from datetime import UTC, datetime

import pytest
from allauth.account.models import EmailAddress
from django.db import transaction
from django.utils import timezone

from accounts.models import Account, DeviceSession
from accounts.operations import closing
from accounts.operations.addresses import mailboxes_of
from accounts.queries import mail_people, own_data
from gateway.core.events.mail_people import Person, recipient_of_address
from gateway.core.events.models import Event, Mail, MailOptOut
from gateway.core.events.operations import mails, unsubscribing
from gateway.core.events.operations.recording import record
from gateway.core.events.operations.unsubscribing import Subject
from gateway.core.events.registry import MailDraft, kind_of
from tests.factories.organizations import account

pytestmark = pytest.mark.django_db

NOW = datetime(2030, 1, 2, 3, 4, 5, tzinfo=UTC)


def claim(who: Account, email: str, *, verified: bool = True, primary: bool = False) -> None:
    EmailAddress.objects.create(user=who, email=email, verified=verified, primary=primary)


@transaction.atomic
def drafts(who: Account, type_: str, **data: object) -> list[MailDraft]:
    """Record an event of an account; return what would be mailed."""
    event = record(owner_kind="account", owner_key=who.did, type=type_, data={"did": who.did, **data}, now=NOW)
    return kind_of(type_).mails(Event.objects.get(pk=event))


def test_mail_goes_to_a_verified_address_the_primary_one_first() -> None:
    alice, bob, carol = account("alice"), account("bob"), account("carol")
    claim(alice, "old@example.com")
    claim(alice, "alice@example.com", primary=True)
    claim(alice, "claimed@example.com", verified=False)
    claim(bob, "bob@example.com", verified=False, primary=True)
    Account.objects.filter(pk=bob.pk).update(email="bob@example.com")
    Account.objects.filter(pk=carol.pk).update(email="carol@example.com")
    people = list(Account.objects.order_by("did"))
    assert mailboxes_of(people) == {alice.pk: "alice@example.com", carol.pk: "carol@example.com"}, (
        "Bob only claims his; an operator assigned Carol's"
    )
    assert mail_people.of_account(bob.did) == [Person(bob.did, "Bob", "")]


def test_a_device_session_is_told_with_its_app_and_device() -> None:
    alice = account("alice")
    session = DeviceSession.objects.create(
        account=alice, client_id="https://app.example", name="Laptop", created_at=NOW, expires_at=NOW
    )
    [draft] = drafts(alice, "device_session.created", deviceSessionId=session.pk)
    assert (draft.template, draft.kind) == ("device_session_created", "security")
    assert draft.context == {
        "app_name": "app.example",
        "device_name": "Laptop",
        "at": "2 January 2030, 03:04 UTC",
        "apps_path": "/apps",
    }
    assert drafts(account("bob"), "device_session.created", deviceSessionId=session.pk) == [], "it is not Bob's"
    assert drafts(alice, "device_session.created", deviceSessionId="dev_gone") == []


def test_a_suspended_account_is_told() -> None:
    alice = account("alice")
    Account.objects.filter(pk=alice.pk).update(suspended_at=NOW)
    claim(alice, "alice@example.com")
    [draft] = drafts(alice, "account.suspended")
    assert (draft.template, draft.kind) == ("account_suspended", "suspension")
    assert draft.person == Person(alice.did, "Alice", "alice@example.com")


def test_a_closed_account_is_forgotten_and_told_nothing() -> None:
    alice = account("alice")
    claim(alice, "alice@example.com", primary=True)
    [draft] = drafts(alice, "account.suspended")
    told = Event.objects.get()
    invited = MailDraft(Person(recipient_of_address("alice@example.com"), "", "alice@example.com"), *draft_of("x"))
    other = MailDraft(Person("did:web:studio.example:bob", "Bob", "bob@example.com"), *draft_of("x"))
    mails.make(event=told, drafts=[draft, invited, other], now=NOW)
    unsubscribing.turn_off(subject=Subject(alice.did, "account", alice.did, "wallet"), now=NOW)
    closing.close(account=alice, now=timezone.now())
    assert list(Mail.objects.values_list("name", flat=True)) == ["Bob"]
    assert not MailOptOut.objects.exists()
    assert drafts(alice, "account.suspended") == []


def draft_of(model: str) -> tuple[str, str, dict[str, str]]:
    return "model_retired", "model", {"model_name": model, "models_path": "/developers"}


def test_what_a_person_was_told_is_in_the_export() -> None:
    alice = account("alice")
    mails.make(event=event_of(alice), drafts=drafts(alice, "account.suspended"), now=NOW)
    unsubscribing.turn_off(subject=Subject(alice.did, "account", alice.did, "wallet"), now=NOW)
    assert list(own_data.mails(alice)) == [
        ("2030-01-02T03:04:05Z", "suspension", "Your account is suspended", "", "unsent", None)
    ]
    assert list(own_data.mails_turned_off(alice)) == [(alice.did, "wallet", "2030-01-02T03:04:05Z")]


@transaction.atomic
def event_of(who: Account) -> Event:
    pk = record(owner_kind="account", owner_key=who.did, type="account.suspended", data={}, now=NOW)
    return Event.objects.get(pk=pk)
