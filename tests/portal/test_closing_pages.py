"""The page on which a person closes their account, and what nobody can do with a closed one."""

import json
import re
from typing import Any

import pytest
from allauth.account.models import EmailAddress
from django.contrib.sessions.models import Session
from django.core.management import CommandError, call_command
from django.test import Client
from pytest_django import DjangoAssertNumQueries

from accounts.models import Account, Closing, DeviceSession
from accounts.operations import closing
from tests.factories.accounts import make_integration
from tests.factories.billing import Purse
from tests.factories.organizations import Team, account
from tests.factories.proofs import ProductServer, Signer, mint_token
from tests.portal.organization_browser import FRAME_QUERIES_MAX, signed_in
from tests.portal.test_pages import PASSWORD, device_of, sign_up
from tests.portal.test_wallet import text_of

pytestmark = pytest.mark.django_db

PATH = "/account/close/"
TICKED = {"understands": "on", "gives_up_credits": "on"}


@pytest.fixture
def alice(client: Client) -> Account:
    sign_up(client)
    return Account.objects.get()


def test_closes_and_signs_out_everywhere(client: Client, alice: Account) -> None:
    other = Client()
    other.post("/account/login/", {"login": "alice@example.com", "password": PASSWORD})
    device_of(alice)
    answer = client.post(PATH, TICKED)
    assert (answer.status_code, answer["Location"]) == (303, "/account/login/")
    assert "Your account was closed." in text_of(client.get("/account/login/"))
    for browser in (client, other):
        assert browser.get("/")["Location"] == "/account/login/?next=/"
    assert not DeviceSession.objects.exists()
    assert not [one for one in Session.objects.all() if one.get_decoded().get("_auth_user_id") == str(alice.pk)]
    document = alice.did.removeprefix("did:web:gateway.example:").replace(":", "/")
    assert client.get(f"/{document}/did.json").status_code == 404


def test_says_what_happens_and_asks_for_the_credits(client: Client, alice: Account) -> None:
    purse = Purse("account", alice.did)
    page = text_of(client.get(PATH))
    assert f"They name only your identifier, {alice.did}" in page
    assert "I give up my credits" not in page
    purse.grant(5_000_000)
    assert "I give up my credits of $5.00." in text_of(client.get(PATH))
    for form in ({}, {"understands": "on"}, {"gives_up_credits": "on"}):
        refused = client.post(PATH, form)
        assert refused.status_code == 400
        assert refused.content.decode().count('role="alert"') == 2 - len(form)
    assert not Closing.objects.exists()
    assert client.post(PATH, TICKED).status_code == 303
    assert purse.wallet.credits_microusd == 0


def test_what_is_in_the_way_is_said_with_what_to_do(client: Client, alice: Account) -> None:
    Purse("account", alice.did).pay(5_000_000).call(1_000)
    page = client.get(PATH)
    assert "Your wallet has $5.00. Ask the operator of this service to pay it back, or spend it first." in text_of(page)
    assert "Calls are under way. Wait until they have ended." in text_of(page)
    assert b"Close account</button>" not in page.content
    assert re.findall(r'<a class="button second" href="([^"]+)"', page.content.decode()) == [
        "/wallet/usage#calls",
        "/wallet",
    ]
    assert client.post(PATH, TICKED).status_code == 400
    assert Account.objects.get().email == "alice@example.com"


def test_needs_a_confirmation_of_who_it_is_and_a_token(alice: Account) -> None:
    for method in ("get", "post"):
        assert getattr(Client(), method)(PATH)["Location"] == f"/account/login/?next={PATH}"
    checked = Client(enforce_csrf_checks=True)
    checked.force_login(alice, backend="django.contrib.auth.backends.ModelBackend")
    assert checked.post(PATH, TICKED).status_code == 403
    stolen = Client()
    stolen.force_login(alice, backend="django.contrib.auth.backends.ModelBackend")
    asked = stolen.post(PATH, TICKED)
    assert asked["Location"].startswith("/account/reauthenticate/")
    stolen.post(asked["Location"], {"password": "wrong"})
    assert not Closing.objects.exists()


def test_a_closed_account_does_not_sign_in_and_its_address_is_free(client: Client, alice: Account) -> None:
    client.post(PATH, TICKED)
    login = {"login": "alice@example.com", "password": PASSWORD}
    assert "not correct" in text_of(client.post("/account/login/", login))
    assert sign_up(client).status_code == 303
    again = Account.objects.get(email="alice@example.com")
    assert again.did != alice.did
    assert EmailAddress.objects.get().user_id == again.pk
    assert client.get("/").status_code == 200


def test_a_product_cannot_bring_it_back(client: Client) -> None:
    server, signer = ProductServer(), Signer()
    make_integration(server)

    def exchange(number: int) -> Any:
        body = {"assertion": server.assertion(jti=f"a{number}"), "dpop_jwk": signer.jwk}
        return client.post("/v1/auth/token/exchange", json.dumps(body), content_type="application/json")

    assert exchange(1).status_code == 200
    person = account("alice")
    token = mint_token(person.did, ["wallet:read"], signer)
    assert read_wallet(client, token, signer).status_code == 200
    closing.close(account=person, now=person.created_at)
    refused = exchange(2)
    assert (refused.status_code, refused.json()["error"]) == (400, "invalid_grant")
    assert read_wallet(client, token, signer).status_code == 401
    assert Account.objects.filter(did=person.did).count() == 1


def read_wallet(client: Client, token: str, signer: Signer) -> Any:
    proof = signer.proof("GET", "/v1/wallet", token)
    return client.get("/v1/wallet", headers={"Authorization": f"DPoP {token}", "DPoP": proof})


def test_members_see_the_identifier_instead_of_the_name(client: Client, alice: Account) -> None:
    team = Team("olivia")
    team.join("bob")
    Account.objects.filter(did=account("bob").did).update(display_name="Bob Smith")
    closing.close(account=account("bob"), now=alice.created_at)
    for page in ("members", "log"):
        words = text_of(signed_in(team.owner).get(f"/organizations/{team.id}/{page}"))
        assert "Bob" not in words
        assert account("bob").did in words


def test_create_operator_refuses_it(client: Client, alice: Account) -> None:
    client.post(PATH, TICKED)
    with pytest.raises(CommandError, match="was closed"):
        call_command("create_operator", alice.did, "--no-set-password")


def test_takes_few_statements(
    client: Client, alice: Account, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    with django_assert_max_num_queries(FRAME_QUERIES_MAX + 20):
        client.get(PATH)
