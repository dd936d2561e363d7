"""Malformed passkey credentials give a form with an error, never a 500."""

import base64
from typing import Any

import pytest
from allauth.mfa.models import Authenticator
from django.test import Client

from accounts.portal.passkeys import AddPasskeyForm
from gateway.core.contract.limits import PASSKEYS_MAX
from tests.factories.accounts import make_account
from tests.portal.test_pages import PASSWORD, sign_up

pytestmark = pytest.mark.django_db

PASSKEYS = "/account/2fa/webauthn/"


def encoded(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


def credential(client_data: bytes = b"{}", attestation: bytes = b"\xa0", authenticator_data: bytes = b"") -> str:
    response = {
        "clientDataJSON": encoded(client_data),
        "attestationObject": encoded(attestation),
        "authenticatorData": encoded(authenticator_data),
        "signature": encoded(b"x"),
        "userHandle": encoded(b"1"),
    }
    members: dict[str, Any] = {"id": "AAAA", "rawId": "AAAA", "type": "public-key", "response": response}
    return str(members).replace("'", '"')


ODD = {
    "deep": "[" * 5000,
    "deep object": '{"a":' * 900 + "1" + "}" * 900,
    "many digits": "9" * 5000,
    "an array": "[]",
    "a lone surrogate": '{"id":"\\ud800"}',
    "a surrogate": '"\ud800"'.encode("utf-8", "surrogatepass").decode("latin-1"),
    "no response": '{"id":"AAAA","rawId":"AAAA"}',
    "mistyped members": '{"response":{"userHandle":"MQ","clientDataJSON":1}}',
    "a mistyped response": '{"response":[]}',
    "an infinite user": '{"response":{"userHandle":"SW5maW5pdHk"}}',
    "client data that is not JSON": credential(client_data=b"\xff"),
    "client data that is not an object": credential(client_data=b"[]"),
    "deep client data": credential(client_data=b"[" * 5000),
    "no attestation": credential(attestation=b""),
    "a short attestation": credential(attestation=b"\xa1\x61"),
    "deep attestation": credential(attestation=b"\x81" * 5000),
    "short authenticator data": credential(client_data=b'{"type":"webauthn.get"}', authenticator_data=b"x" * 36),
}


@pytest.fixture(params=ODD.values(), ids=list(ODD))
def odd(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def test_no_malformed_credential_signs_in(client: Client, odd: str) -> None:
    client.get(f"{PASSKEYS}login/", HTTP_ACCEPT="application/json")
    client.post(f"{PASSKEYS}login/", {"credential": odd})
    assert "_auth_user_id" not in client.session


@pytest.mark.parametrize("passwordless", ["", "on"])
def test_no_malformed_credential_is_added(client: Client, odd: str, passwordless: str) -> None:
    sign_up(client)
    client.post("/account/reauthenticate/", {"password": PASSWORD})
    assert client.get(f"{PASSKEYS}add/").status_code == 200
    form = {"credential": odd, "name": "Key", "passwordless": passwordless}
    assert client.post(f"{PASSKEYS}add/", form).status_code == 200
    assert not client.get(PASSKEYS).context["authenticators"]


@pytest.mark.parametrize(("number", "is_full"), [(PASSKEYS_MAX - 1, False), (PASSKEYS_MAX, True)])
def test_the_number_per_person_is_limited(number: int, is_full: bool) -> None:
    alice = make_account()
    Authenticator.objects.bulk_create(Authenticator(user=alice, type="webauthn", data={}) for _ in range(number))
    form = AddPasskeyForm(user=alice, data={"credential": "{}", "name": "Key"})
    errors = " ".join(form.non_field_errors())
    assert (f"You already have {PASSKEYS_MAX} passkeys" in errors) is is_full
    assert not form.is_valid()
