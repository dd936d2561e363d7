"""A new second factor is recorded in the transaction that adds it, and mailed to its person."""

import pytest
from allauth.account.models import EmailAddress
from django.test import Client
from django.utils import timezone
from pytest_django import Settings

from accounts.models import Account
from gateway.core.events.models import Event
from gateway.core.events.registry import kind_of
from tests.portal.passkey import Passkey
from tests.portal.test_enrolments import shown
from tests.portal.test_pages import sign_up
from tests.portal.test_passkeys import add
from tests.portal.test_second_factor_races import ACTIVATE, code_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def alice(client: Client, settings: Settings) -> Account:
    sign_up(client)
    settings.MAIL_IS_CONFIGURED = True
    EmailAddress.objects.update(verified=True)
    return Account.objects.get(email="alice@example.com")


def recorded() -> list[tuple[str, str, dict[str, str]]]:
    found = Event.objects.filter(type="second_factor.added").order_by("pk")
    return [(one.owner_kind, one.owner_key, one.data) for one in found]


def test_an_authenticator_app_is_recorded_once(client: Client, alice: Account) -> None:
    wrong = client.post(ACTIVATE, {"code": "000000"})
    assert wrong.status_code == 200
    assert recorded() == []
    assert client.post(ACTIVATE, {"code": code_of(shown(client))}).status_code == 303
    assert recorded() == [("account", alice.did, {"did": alice.did, "type": "totp", "name": ""})]
    [event] = Event.objects.filter(type="second_factor.added")
    [draft] = kind_of(event.type).mails(event)
    assert (draft.person.recipient, draft.person.address) == (alice.did, "alice@example.com")
    assert (draft.template, draft.kind) == ("second_factor_added", "security")
    assert draft.context["factor"] == "An authenticator app"
    assert draft.context["security_path"] == "/account/2fa/"
    assert timezone.now().strftime("%Y") in draft.context["at"]


def test_each_passkey_is_recorded_with_its_name(client: Client, alice: Account) -> None:
    for passkey in (Passkey(), Passkey()):
        assert add(client, passkey).status_code == 303
    assert [(data["type"], data["name"]) for _, _, data in recorded()] == [("webauthn", "Key")] * 2
    client.get("/account/2fa/recovery-codes/")
    assert len(recorded()) == 2, "recovery codes come along and are not told of"
