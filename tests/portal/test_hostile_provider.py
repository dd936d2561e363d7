"""Malicious identity providers and attackers between them and the portal, over real sockets."""

import json
from collections.abc import Iterator
from threading import Event, Thread
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
import requests
from allauth.socialaccount.models import SocialAccount, SocialApp
from django.db import connection
from django.test import Client
from pytest_django import Settings

from accounts.models import Account
from accounts.portal import provider_requests
from accounts.portal.views.identity_providers import WAITING_MAX
from tests.portal.identity_provider import CLIENT_ID, CLIENT_SECRET, PAT, IdentityProvider, serving
from tests.portal.test_identity_provider import come_back, is_error_page, sign_in
from tests.support.concurrency import PATIENCE_SECONDS, eventually

pytestmark = pytest.mark.django_db

DESCRIPTION = "/.well-known/openid-configuration"


@pytest.fixture
def provider(identity_provider: IdentityProvider) -> IdentityProvider:
    return identity_provider


@pytest.fixture
def other(provider: IdentityProvider, settings: Settings) -> Iterator[IdentityProvider]:
    """Configure a second provider."""
    with serving() as other:
        app = {"provider_id": "other", "name": "Other", "client_id": CLIENT_ID, "secret": CLIENT_SECRET}
        apps = settings.SOCIALACCOUNT_PROVIDERS["openid_connect"]["APPS"]
        apps.append({**app, "settings": {"server_url": other.issuer}})
        other.claims = dict(PAT)
        yield other


def begun(client: Client, name: str = "sso") -> dict[str, str]:
    """Begin a sign-in; return the parameters of the redirect to the provider."""
    query = urlsplit(client.post(f"/account/oidc/{name}/login/")["Location"]).query
    return {key: values[0] for key, values in parse_qs(query).items()}


def code_of(provider: IdentityProvider, query: dict[str, str]) -> str:
    """Sign in at the provider; return the code for the callback."""
    back = requests.get(f"{provider.issuer}/authorize", params=query, allow_redirects=False, timeout=60)
    return parse_qs(urlsplit(back.headers["Location"]).query)["code"][0]


def bring(client: Client, code: str, state: str, name: str = "sso") -> Any:
    return client.get(f"/account/oidc/{name}/login/callback/", {"code": code, "state": state})


def signed_in(client: Client) -> bool:
    return client.get("/").status_code == 200


def test_a_code_serves_the_browser_that_requested_it(provider: IdentityProvider) -> None:
    person, thief = Client(), Client()
    query, own = begun(person), begun(thief)
    code = code_of(provider, query)
    assert is_error_page(bring(thief, code, query["state"]))
    assert is_error_page(bring(thief, code, own["state"]))
    assert not signed_in(thief)


def test_a_code_cannot_be_used_by_others_even_without_pkce(provider: IdentityProvider) -> None:
    provider.wants_pkce = False
    thief = Client()
    code, own = code_of(provider, begun(Client())), begun(thief)
    assert is_error_page(bring(thief, code, own["state"]))
    assert not signed_in(thief)
    assert sign_in(Client()) == "/"


def test_a_state_serves_once(client: Client, provider: IdentityProvider) -> None:
    query = begun(client)
    assert bring(client, code_of(provider, query), query["state"])["Location"] == "/"
    client.post("/account/logout/")
    assert is_error_page(bring(client, code_of(provider, query), query["state"]))
    assert not signed_in(client)


def test_a_response_of_one_provider_is_not_accepted_for_another(
    client: Client,
    provider: IdentityProvider,
    other: IdentityProvider,
) -> None:
    query = begun(client)
    assert is_error_page(bring(client, code_of(provider, query), query["state"], "other"))
    assert "/token" not in other.requests, "the code would be sent to another provider"
    query = begun(client, "other")
    assert is_error_page(bring(client, code_of(other, query), query["state"], "sso"))
    assert not signed_in(client)


def test_a_person_of_one_provider_is_not_one_of_another(
    provider: IdentityProvider,
    other: IdentityProvider,
) -> None:
    assert sign_in(Client()) == "/"
    other.claims = {"sub": PAT["sub"], "email": "mallory@example.com"}
    thief = Client()
    query = begun(thief, "other")
    assert bring(thief, code_of(other, query), query["state"], "other")["Location"] == "/"
    assert Account.objects.count() == SocialAccount.objects.count() == 2


def test_every_request_to_a_provider_has_pkce_and_a_nonce(
    client: Client, provider: IdentityProvider, settings: Any
) -> None:
    settings.SOCIALACCOUNT_PROVIDERS = {}
    app = {"provider": "openid_connect", "provider_id": "console", "name": "Console", "client_id": CLIENT_ID}
    SocialApp.objects.create(**app, secret=CLIENT_SECRET, settings={"server_url": provider.issuer})
    seen = [begun(client, "console") for _ in range(2)]
    assert {query["code_challenge_method"] for query in seen} == {"S256"}
    for name in ("state", "nonce", "code_challenge"):
        assert len({query[name] for query in seen}) == 2
    assert begun(client, "console/login/?auth_params=nonce%3Dmine&x=")["nonce"] != "mine"


@pytest.mark.parametrize(
    "claims",
    [
        {"nonce": "another"},
        {"nonce": None},
        {"nonce": ["x"]},
        {"aud": "another"},
        {"aud": ["another"]},
        {"aud": []},
        {"aud": None},
        {"aud": [CLIENT_ID, "another"]},
        {"aud": [CLIENT_ID, "another"], "azp": "another"},
        {"azp": "another"},
        {"azp": None},
        {"iss": "https://other.example"},
        {"iss": None},
        {"exp": 1},
        {"exp": "soon"},
        {"exp": None},
    ],
)
def test_a_token_that_is_not_for_us_and_now_is_refused(
    client: Client,
    provider: IdentityProvider,
    claims: dict[str, Any],
) -> None:
    provider.claims, provider.user_information = {**PAT, **claims}, PAT
    assert is_error_page(come_back(client))
    assert not signed_in(client)


@pytest.mark.parametrize(
    "claims", [{"jti": "x" * 100_000}, {"jti": "x\x00"}, {"exp": 10**15, "jti": "1"}, {"exp": 1e300, "jti": "2"}]
)
def test_malformed_members_of_a_token_cause_no_server_error(
    client: Client,
    provider: IdentityProvider,
    claims: dict[str, Any],
) -> None:
    provider.claims, provider.user_information = {**PAT, **claims}, PAT
    assert come_back(client).status_code < 500
    assert is_error_page(come_back(Client())), "a token id serves once"


def test_a_token_answer_without_an_id_token_proves_nothing(client: Client, provider: IdentityProvider) -> None:
    provider.answers = {"/token": (200, b'{"access_token": "x", "token_type": "Bearer"}')}
    assert is_error_page(come_back(client))


@pytest.mark.parametrize("path", [DESCRIPTION, "/token", "/userinfo"])
def test_no_redirect_is_followed(client: Client, provider: IdentityProvider, path: str) -> None:
    provider.redirects = {path: f"{provider.issuer}/internal"}
    answer = client.post("/account/oidc/sso/login/") if path == DESCRIPTION else come_back(client)
    assert is_error_page(answer)
    assert "/internal" not in provider.requests


@pytest.mark.parametrize("path", [DESCRIPTION, "/token", "/userinfo"])
def test_an_answer_that_does_not_end_is_ended(
    client: Client,
    provider: IdentityProvider,
    path: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(provider_requests, "TIMEOUT_SECONDS", 2.0)  # more than the other answers take
    provider.endless = {path}
    answer = client.post("/account/oidc/sso/login/") if path == DESCRIPTION else come_back(client)
    assert is_error_page(answer)
    eventually(lambda: provider.left == [path])


@pytest.mark.parametrize("path", [DESCRIPTION, "/userinfo"])
def test_a_very_large_answer_is_refused(client: Client, provider: IdentityProvider, path: str) -> None:
    honest = provider.configuration() if path == DESCRIPTION else PAT
    provider.answers = {path: (200, json.dumps({**honest, "x": "x" * 3_000_000}).encode())}
    assert is_error_page(client.post("/account/oidc/sso/login/") if path == DESCRIPTION else come_back(client))


@pytest.mark.django_db(transaction=True)
def test_a_provider_that_hangs_takes_few_places(provider: IdentityProvider, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(provider_requests, "TIMEOUT_SECONDS", PATIENCE_SECONDS)
    provider.closed = {DESCRIPTION: Event()}
    answers: list[int] = []

    def ask() -> None:
        answers.append(Client().post("/account/oidc/sso/login/").status_code)
        connection.close()

    waiting = [Thread(target=ask) for _ in range(WAITING_MAX)]
    for thread in waiting:
        thread.start()
    eventually(lambda: len(provider.requests) == len(waiting))
    assert Client().post("/account/oidc/sso/login/").status_code == 503
    provider.closed[DESCRIPTION].set()
    for thread in waiting:
        thread.join()
    assert set(answers) == {303}
    assert Client().post("/account/oidc/sso/login/").status_code == 303
