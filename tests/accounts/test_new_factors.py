"""A new second factor is recorded in the transaction that adds it, and mailed to its person."""

from typing import Any

import pytest
from allauth.account.models import EmailAddress
from allauth.mfa.models import Authenticator
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


def recorded() -> list[tuple[str, str, dict[str, Any]]]:
    found = Event.objects.filter(type="second_factor.added").order_by("pk")
    return [(one.owner_kind, one.owner_key, one.data) for one in found]


def test_an_authenticator_app_is_recorded_once(client: Client, alice: Account) -> None:
    wrong = client.post(ACTIVATE, {"code": "000000"})
    assert wrong.status_code == 200
    assert recorded() == []
    assert client.post(ACTIVATE, {"code": code_of(shown(client))}).status_code == 303
    app = Authenticator.objects.get(type="totp")
    assert recorded() == [("account", alice.did, {"did": alice.did, "type": "totp", "factorId": app.pk})]
    [event] = Event.objects.filter(type="second_factor.added")
    [draft] = kind_of(event.type).mails(event)
    assert (draft.person.recipient, draft.person.address) == (alice.did, "alice@example.com")
    assert (draft.template, draft.kind) == ("second_factor_added", "security")
    assert draft.context["factor"] == "An authenticator app"
    assert draft.context["security_path"] == "/account/2fa/"
    assert timezone.now().strftime("%Y") in draft.context["at"]


def test_each_passkey_is_recorded(client: Client, alice: Account) -> None:
    for passkey in (Passkey(), Passkey()):
        assert add(client, passkey).status_code == 303
    keys = list(Authenticator.objects.filter(type="webauthn").order_by("pk").values_list("pk", flat=True))
    assert [data for _, _, data in recorded()] == [
        {"did": alice.did, "type": "webauthn", "factorId": key} for key in keys
    ]
    event = Event.objects.filter(type="second_factor.added").latest("pk")
    assert kind_of(event.type).mails(event)[0].context["factor_name"] == "Key"
    Authenticator.objects.all().delete()
    assert kind_of(event.type).mails(event)[0].context["factor_name"] == "", "whoever added it may have removed it"
