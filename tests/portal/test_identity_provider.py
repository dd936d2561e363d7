"""Signing in through an operator's identity provider, over real sockets."""

import json
from typing import Any

import pytest
import requests
from allauth.account.models import EmailAddress
from allauth.socialaccount.models import SocialAccount
from django.core.cache import cache
from django.test import Client
from django.utils import timezone
from pytest_django import Settings

from accounts.models import Account
from accounts.operations.suspension import suspend
from tests.factories.accounts import make_account
from tests.portal.identity_provider import PAT, IdentityProvider

pytestmark = pytest.mark.django_db


@pytest.fixture
def provider(identity_provider: IdentityProvider) -> IdentityProvider:
    return identity_provider


def come_back(client: Client, query: str = "") -> Any:
    """Go to the provider and return with its response."""
    begun = client.post(f"/account/oidc/sso/login/{query}")
    assert begun.status_code in (302, 303), begun.content
    back = requests.get(begun["Location"], allow_redirects=False, timeout=60).headers["Location"]
    path = back.partition("://")[2].partition("/")[2]
    return client.get(f"/{path}")


def sign_in(client: Client, query: str = "") -> str:
    """Go to the provider and back; return the final page."""
    answer = come_back(client, query)
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
    assert sign_in(client, "?next=/developers") == "/developers"
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


def test_a_forged_response_does_not_sign_in(client: Client, provider: IdentityProvider) -> None:
    client.get("/account/oidc/sso/login/callback/?code=forged&state=forged")
    assert client.get("/").status_code == 302
    assert not Account.objects.exists()


ODD: list[Any] = [
    *(
        {"sub": sub}
        for sub in ("", " ", "x" * 192, "a\x00b", "a\nb", "\u202eabc", 7, True, None, ["person-1"], {"a": 1})
    ),
    {},
    *({"sub": "s", "email": email} for email in (7, ["pat@example.com"], {"a": 1}, "a\x00@example.com", "x" * 3000)),
    *({"sub": "s", "name": name} for name in (7, {"a": 1}, "Pat\x00", "Pat\u2028", "\ud800", "x" * 100_000)),
    *({"sub": "s", "email": "s@x.example", "email_verified": odd} for odd in ("yes", 1, ["true"], {"a": 1})),
    {"sub": "s", "preferred_username": ["x"]},
    [],
    "person-1",
    7,
]


def is_error_page(answer: Any) -> bool:
    return bool(answer.status_code < 503 and b"Sign-in failed" in answer.content)


class TestInvalidClaims:
    """Responses of a provider, which is not trusted."""

    @pytest.mark.parametrize("claims", ODD, ids=range(len(ODD)))
    def test_give_an_error_page_and_no_sign_in(self, client: Client, provider: IdentityProvider, claims: Any) -> None:
        provider.claims, provider.user_information = {**PAT, "sub": "s"}, claims
        assert is_error_page(come_back(client))
        assert client.get("/").status_code == 302
        assert not Account.objects.exists()

    def test_with_another_subject_than_the_token_do_not_sign_in(
        self, client: Client, provider: IdentityProvider
    ) -> None:
        assert sign_in(Client()) == "/"
        provider.claims = {"sub": "person-2"}
        provider.user_information = dict(PAT)
        assert is_error_page(come_back(client))
        assert client.get("/").status_code == 302

    def test_a_number_is_not_the_same_subject_as_its_text(self, client: Client, provider: IdentityProvider) -> None:
        provider.claims = {**PAT, "sub": "7"}
        assert sign_in(Client()) == "/"
        provider.user_information = {**PAT, "sub": 7}
        assert is_error_page(come_back(client))

    def test_unknown_claims_are_not_stored(self, client: Client, provider: IdentityProvider) -> None:
        provider.user_information = {**PAT, "extra": "\x00" * 10, "huge": "x" * 1_000_000}
        assert sign_in(client) == "/"
        [stored] = SocialAccount.objects.values_list("extra_data", flat=True)
        assert stored == {"userinfo": {**PAT, "email_verified": False}}

    @pytest.mark.parametrize("address", [None, "no address", "x" * 300 + "@example.com"])
    def test_an_address_is_required_where_none_is_usable(
        self, client: Client, provider: IdentityProvider, address: str | None
    ) -> None:
        for number in range(2):
            provider.claims = {"sub": f"person-{number}", **({"email": address} if address else {})}
            assert sign_in(Client()).startswith("/account/3rdparty/signup/")
        assert not Account.objects.exists()

    @pytest.mark.parametrize(
        ("path", "status", "body"),
        [
            ("/token", 200, b"[]"),
            ("/token", 200, b"{}"),
            ("/token", 200, b"no json"),
            ("/token", 200, b'{"access_token": 7, "id_token": 7}'),
            ("/token", 200, b'{"access_token": "x", "id_token": "x.y.z"}'),
            ("/token", 200, b'{"access_token": "x", "expires_in": "soon"}'),
            ("/token", 200, b'{"access_token": "x", "expires_in": 1e300}'),
            ("/token", 500, b""),
            ("/userinfo", 200, b"no json"),
            ("/userinfo", 200, b"\xff"),
            ("/userinfo", 200, json.dumps({"sub": "\ud800"}).encode()),
            ("/userinfo", 500, b""),
            ("/userinfo", 401, b"{}"),
        ],
    )
    def test_an_answer_of_any_kind_is_a_page(
        self, client: Client, provider: IdentityProvider, path: str, status: int, body: bytes
    ) -> None:
        provider.answers = {path: (status, body)}
        assert is_error_page(come_back(client))
        assert not Account.objects.exists()

    @pytest.mark.parametrize(
        ("status", "body"), [(500, b""), (200, b"[]"), (200, b"{}"), (200, b"no json"), (200, b"7")]
    )
    def test_a_provider_that_does_not_describe_itself_is_a_page(
        self, client: Client, provider: IdentityProvider, status: int, body: bytes
    ) -> None:
        provider.answers = {"/.well-known/openid-configuration": (status, body)}
        assert is_error_page(client.post("/account/oidc/sso/login/"))
        assert client.get("/account/oidc/unknown/login/").status_code == 404


class TestAddresses:
    """An address from a provider never gives access to an existing account."""

    @pytest.mark.parametrize("verified", [True, False, "true", "false"])
    def test_neither_a_verified_nor_an_unverified_one_takes_an_account(
        self, client: Client, provider: IdentityProvider, verified: Any
    ) -> None:
        owner = make_account("did:web:gateway.example:accounts:acc_1", email="pat@example.com")
        EmailAddress.objects.create(user=owner, email="pat@example.com", verified=True, primary=True)
        provider.claims = {**PAT, "email_verified": verified}
        sign_in(client)
        assert client.get("/").status_code == 302
        assert not SocialAccount.objects.exists()

    @pytest.mark.parametrize(("sent", "is_verified"), [("false", False), (False, False), ("true", True), (True, True)])
    def test_the_providers_email_verified_is_read_as_boolean_or_text(
        self, client: Client, provider: IdentityProvider, sent: Any, is_verified: bool
    ) -> None:
        provider.claims = {**PAT, "email_verified": sent}
        assert sign_in(client) == "/"
        assert EmailAddress.objects.get().verified is is_verified

    def test_a_verified_one_wins_over_a_strangers_claim(
        self, client: Client, provider: IdentityProvider, settings: Settings
    ) -> None:
        settings.ACCOUNT_EMAIL_VERIFICATION, settings.ACCOUNT_PREVENT_ENUMERATION = "mandatory", "strict"
        stranger = make_account("did:web:gateway.example:accounts:acc_1", email="pat@example.com")
        EmailAddress.objects.create(user=stranger, email="pat@example.com", verified=False, primary=True)
        provider.claims = {**PAT, "email_verified": True}
        assert sign_in(client) == "/"
        stranger.refresh_from_db()
        assert stranger.email is None
        assert EmailAddress.objects.get().user == Account.objects.get(email="pat@example.com") != stranger


def test_a_suspended_account_is_not_signed_in(client: Client, provider: IdentityProvider) -> None:
    assert sign_in(Client()) == "/"
    suspend(account=Account.objects.get(), now=timezone.now())
    cache.clear()
    assert sign_in(client) == "/account/inactive/"
    assert client.get("/").status_code == 302
