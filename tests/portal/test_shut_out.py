"""Suspended and closed accounts: none of the person's sessions, tokens, codes or links works, then or later."""

import copy
import re
from collections.abc import Callable
from datetime import timedelta
from types import SimpleNamespace
from typing import Any

import pytest
from allauth.mfa.adapter import get_adapter
from allauth.mfa.models import Authenticator
from allauth.mfa.totp.internal.auth import generate_totp_secret
from django.core import mail
from django.core.cache import cache
from django.test import Client, override_settings
from django.utils import timezone
from pytest_django import Settings

from accounts.models import Account, AuthorizationCode, AuthorizationRequest, DeviceSession
from accounts.operations import codes
from accounts.operations.keyring import keyring
from accounts.rules import pkce
from tests.accounts.test_public_tokens import APP, CALLBACK, SCOPES, VERIFIER, Browser
from tests.factories.accounts import make_integration
from tests.factories.proofs import ProductServer
from tests.portal.conftest import providers_of
from tests.portal.identity_provider import IdentityProvider
from tests.portal.passkey import Passkey
from tests.portal.test_consent import allow, begin
from tests.portal.test_identity_provider import come_back
from tests.portal.test_pages import PASSWORD, sign_up
from tests.portal.test_passkeys import add, begun, is_signed_in
from tests.portal.test_second_factor_races import SECOND, code_of

pytestmark = pytest.mark.django_db

SIGN_IN = {"login": "alice@example.com", "password": PASSWORD}


def issued(account: Account, letter: str) -> tuple[str, str]:
    """Return an unredeemed code and its code verifier."""
    verifier = VERIFIER[:-1] + letter
    request = AuthorizationRequest(client_id=APP, redirect_uri=CALLBACK, code_challenge=pkce.challenge_of(verifier))
    code = codes.issue(request, account=account, scopes=SCOPES, consents=[], now=timezone.now())
    assert code
    return code, verifier


@pytest.fixture(scope="module")
def enrolled(
    django_db_setup: None, django_db_blocker: Any, running_identity_provider: IdentityProvider
) -> SimpleNamespace:
    """Commit a person with a password, an account at a provider, a passkey and an authenticator, for all tests of the file."""
    running_identity_provider.reset()
    client, passkey, secret = Client(), Passkey(), generate_totp_secret()
    providers = providers_of(running_identity_provider)
    with django_db_blocker.unblock(), override_settings(MAIL_IS_CONFIGURED=True, SOCIALACCOUNT_PROVIDERS=providers):
        sign_up(client)
        account = Account.objects.get()
        client.post("/account/reauthenticate/", {"password": PASSWORD})
        come_back_connected(client)
        add(client, passkey)
        Authenticator.objects.create(user=account, type="totp", data={"secret": get_adapter().encrypt(secret)})
    return SimpleNamespace(pk=account.pk, cookies=client.cookies, passkey=passkey, secret=secret)


@pytest.fixture
def held(enrolled: Any, client: Client, settings: Settings, identity_provider: IdentityProvider) -> SimpleNamespace:
    """Return all credentials that a person may hold. What expires is new for each test."""
    keyring.forget()
    settings.MAIL_IS_CONFIGURED = True
    client.cookies = copy.deepcopy(enrolled.cookies)
    account = Account.objects.get(pk=enrolled.pk)
    reset = Client()
    reset.post("/account/password/reset/", {"email": "alice@example.com"})
    link = "/account/" + re.findall(r"/account/(password/reset/key/\S+)", str(mail.outbox[-1].body))[0]
    waiting = Client()
    assert waiting.post("/account/login/", SIGN_IN)["Location"] == SECOND
    app = Browser(Client())
    code, verifier = issued(account, "a")
    tokens = app.redeem(code=code, code_verifier=verifier).json()
    server = ProductServer(did_prefix=account.did.rpartition(":")[0] + ":")
    make_integration(server)
    return SimpleNamespace(
        account=account,
        client=client,
        consent=begin(client)["Location"],
        passkey=enrolled.passkey,
        waiting=waiting,
        secret=enrolled.secret,
        reset=reset,
        link=link,
        app=app,
        tokens=tokens,
        code=issued(account, "b"),
        server=server,
    )


def come_back_connected(client: Client) -> None:
    assert come_back(client, "?process=connect").status_code == 302


def page(held: Any) -> bool:
    return is_signed_in(held.client)


def organizations(held: Any) -> bool:
    return bool(held.client.get("/api/organizations").status_code == 200)


def authorize(held: Any) -> bool:
    return b"Allow" in held.client.get(begin(held.client)["Location"], follow=True).content


def consent(held: Any) -> bool:
    return str(allow(held.client, held.consent)["Location"]).startswith(CALLBACK)


def code(held: Any) -> bool:
    return bool(held.app.redeem(code=held.code[0], code_verifier=held.code[1]).status_code == 200)


def token(held: Any) -> bool:
    headers = held.app.signer.headers("GET", "/v1/account", held.tokens["access_token"])
    return held.app.client.get("/v1/account", headers=headers).status_code == 200


def refresh(held: Any) -> bool:
    return bool(held.app.refresh(held.tokens["refresh_token"]).status_code == 200)


def exchange(held: Any) -> bool:
    body = {
        "assertion": held.server.assertion(name=held.account.did.rpartition(":")[2]),
        "dpop_jwk": held.app.signer.jwk,
    }
    return bool(held.app.post("/v1/auth/token/exchange", body).status_code == 200)


def password(held: Any) -> bool:
    stranger = Client()
    return stranger.post("/account/login/", SIGN_IN)["Location"] == SECOND


def second_factor(held: Any) -> bool:
    held.waiting.post(SECOND, {"code": code_of(held.secret)})
    return is_signed_in(held.waiting)


def passkey(held: Any) -> bool:
    stranger = Client()
    stranger.post("/account/2fa/webauthn/login/", {"credential": held.passkey.proof(begun(stranger), held.account)})
    return is_signed_in(stranger)


def provider(held: Any) -> bool:
    return bool(come_back(Client())["Location"] == SECOND)


def reset(held: Any) -> bool:
    new = {"password1": "another horse battery", "password2": "another horse battery"}
    held.reset.post(held.reset.get(held.link)["Location"], new)
    stranger = Client()
    return stranger.post("/account/login/", {**SIGN_IN, "password": new["password1"]}).get("Location") == SECOND


WAYS_IN: list[Callable[[Any], bool]] = [
    page,
    organizations,
    authorize,
    consent,
    code,
    token,
    refresh,
    exchange,
    password,
    second_factor,
    passkey,
    provider,
    reset,
]
OF_A_SESSION = {page, organizations, authorize, consent, code, token, refresh, second_factor}


def by_action(console: Client, account: Account, is_in: bool) -> None:
    verb = "unsuspend" if is_in else "suspend"
    console.post(f"/admin/accounts/account/{account.pk}/{verb}/", {"_form_submitted": "on", "reason": "a test"})


def by_form(console: Client, account: Account, is_in: bool) -> None:
    form = {"email": account.email, "display_name": "", **({"is_active": "on"} if is_in else {})}
    console.post(f"/admin/accounts/account/{account.pk}/change/", form)


@pytest.fixture
def console() -> Client:
    client = Client()
    client.force_login(Account.objects.create_superuser("did:web:localhost:operator", "operator@localhost", PASSWORD))
    return client


@pytest.mark.parametrize("shut", [by_action, by_form])
@pytest.mark.parametrize("way_in", WAYS_IN)
def test_nothing_lets_the_account_in(held: Any, console: Client, shut: Any, way_in: Callable[[Any], bool]) -> None:
    shut(console, held.account, is_in=False)
    held.account.refresh_from_db()
    assert not held.account.is_live
    cache.clear()
    before = AuthorizationCode.objects.count(), DeviceSession.objects.count()
    assert not way_in(held)
    assert (AuthorizationCode.objects.count(), DeviceSession.objects.count()) == before
    assert not DeviceSession.objects.filter(revoked_at=None, expires_at__gt=timezone.now() - timedelta(days=1)).exists()


@pytest.mark.parametrize("shut", [by_action, by_form])
@pytest.mark.parametrize("way_in", WAYS_IN)
def test_afterwards_the_person_can_sign_in_again(
    held: Any, console: Client, shut: Any, way_in: Callable[[Any], bool]
) -> None:
    shut(console, held.account, is_in=False)
    shut(console, held.account, is_in=True)
    cache.clear()
    assert way_in(held) is (way_in not in OF_A_SESSION)


@pytest.mark.parametrize("way_in", WAYS_IN)
def test_everything_lets_a_live_account_in(held: Any, way_in: Callable[[Any], bool]) -> None:
    assert way_in(held)


def test_a_password_that_an_operator_sets_signs_every_device_out(held: Any, console: Client) -> None:
    new = {"password1": "another horse battery", "password2": "another horse battery", "usable_password": "true"}
    assert console.post(f"/admin/accounts/account/{held.account.pk}/password/", new).status_code in (302, 303)
    assert not page(held)
    assert not refresh(held)
    assert not second_factor(held)
