"""Signing in through an operator's identity provider, over real sockets."""

from collections.abc import Iterator

import pytest
import requests
from allauth.socialaccount.models import SocialAccount
from django.test import Client
from pytest_django import Settings

from accounts.models import Account
from tests.factories.accounts import make_account
from tests.support.identity_provider import CLIENT_ID, CLIENT_SECRET, IdentityProvider, serving

pytestmark = pytest.mark.django_db


@pytest.fixture(scope="module")
def running() -> Iterator[IdentityProvider]:
    with serving() as provider:
        yield provider


@pytest.fixture
def provider(running: IdentityProvider, settings: Settings) -> IdentityProvider:
    app = {
        "provider_id": "sso",
        "name": "Example SSO",
        "client_id": CLIENT_ID,
        "secret": CLIENT_SECRET,
        "settings": {"server_url": running.issuer},
    }
    settings.SOCIALACCOUNT_PROVIDERS = {"openid_connect": {"OAUTH_PKCE_ENABLED": True, "APPS": [app]}}
    running.claims = {"sub": "person-1", "email": "pat@example.com", "name": "Pat Person"}
    return running


def sign_in(client: Client, query: str = "") -> str:
    """Go to the provider and come back; give the page that the person ends on."""
    begun = client.post(f"/account/oidc/sso/login/{query}")
    assert begun.status_code in (302, 303), begun.content
    back = requests.get(begun["Location"], allow_redirects=False, timeout=5).headers["Location"]
    path = back.partition("://")[2].partition("/")[2]
    answer = client.get(f"/{path}")
    assert answer.status_code == 302, answer.content
    return answer["Location"]


def test_the_sign_in_page_offers_it(client: Client, provider: IdentityProvider) -> None:
    page = client.get("/account/login/").content.decode()
    assert "Continue with Example SSO" in page
    assert page.count('type="submit"') == 1


def test_a_person_gets_an_account_once(client: Client, provider: IdentityProvider) -> None:
    assert sign_in(client) == "/"
    assert b"Hello, Pat Person" in client.get("/").content
    account = Account.objects.get()
    assert account.did.startswith("did:web:gateway.example:accounts:acc_")
    assert sign_in(Client()) == "/"
    assert Account.objects.count() == 1


def test_comes_back_to_the_page_that_waited(client: Client, provider: IdentityProvider) -> None:
    assert sign_in(client, "?next=/devices") == "/devices"
    assert sign_in(Client(), "?next=https://evil.example/") == "/"


def test_the_look_survives_the_way_there_and_back(client: Client, provider: IdentityProvider) -> None:
    client.get("/account/login/?theme=dark")
    sign_in(client)
    assert b'data-theme="dark"' in client.get("/").content


def test_an_email_address_never_links_to_an_account(client: Client, provider: IdentityProvider) -> None:
    owner = make_account("did:web:gateway.example:accounts:acc_1", email="pat@example.com")
    assert sign_in(client).startswith("/account/3rdparty/signup/")
    assert client.get("/").status_code == 302
    assert not SocialAccount.objects.filter(user=owner).exists()


def test_a_forged_answer_signs_nobody_in(client: Client, provider: IdentityProvider) -> None:
    client.get("/account/oidc/sso/login/callback/?code=forged&state=forged")
    assert client.get("/").status_code == 302
    assert not Account.objects.exists()
