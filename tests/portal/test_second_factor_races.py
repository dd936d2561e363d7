"""Concurrent second factors at two server processes: each code, challenge and change succeeds once."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import httpx
import pytest
from allauth.mfa.models import Authenticator
from allauth.mfa.recovery_codes.internal.auth import RecoveryCodes
from allauth.mfa.totp.internal.auth import (
    TOTP,
    format_hotp_value,
    generate_totp_secret,
    hotp_value,
    yield_hotp_counters_from_time,
)

from accounts.models import Account
from tests.factories.accounts import make_account
from tests.portal.browser import Browser
from tests.support.concurrency import at_once
from tests.support.processes import gateway_process

pytestmark = pytest.mark.django_db(transaction=True)

PASSWORD, EMAIL = "correct horse battery", "alice@service.example"
SECOND, REAUTHENTICATE = "/account/2fa/authenticate/", "/account/2fa/reauthenticate/"
ACTIVATE, DEACTIVATE = "/account/2fa/totp/activate/", "/account/2fa/totp/deactivate/"
SERVER = ("gateway.asgi:application", "--port={port}", "--no-proxy-headers", "--log-level=warning")
BROWSERS = 6


@pytest.fixture(scope="module")
def origins(django_db_setup: None, django_db_blocker: Any) -> Iterator[list[str]]:
    """Run two server processes on the tests' database."""
    with ExitStack() as running, django_db_blocker.unblock():
        yield [running.enter_context(gateway_process("uvicorn", SERVER))[0] for _ in range(2)]


@pytest.fixture
def alice() -> Account:
    return make_account("did:web:gateway.example:accounts:acc_alice", email=EMAIL, password=PASSWORD)


@pytest.fixture
def browsers(origins: list[str]) -> Iterator[list[Browser]]:
    with ExitStack() as open_ones:
        yield [open_ones.enter_context(Browser(origins[number % 2])) for number in range(BROWSERS)]


def code_of(secret: str) -> str:
    """Return the current code."""
    [counter] = yield_hotp_counters_from_time()
    return format_hotp_value(hotp_value(secret, counter))


def race(browsers: list[Browser], path: str, form: Callable[[int], dict[str, str]]) -> list[httpx.Response]:
    """Send every browser's form at the same moment."""
    tokens = [browser.token(path) for browser in browsers]
    calls = [
        (lambda n=n, browser=browser: browser.post(path, form(n), tokens[n])) for n, browser in enumerate(browsers)
    ]
    answers = at_once(*calls)
    assert not [answer for answer in answers if answer.status_code >= 500]
    return answers


@pytest.mark.parametrize("kind", ["app", "recovery code"])
def test_of_sign_ins_with_one_code_one_wins(alice: Account, browsers: list[Browser], kind: str) -> None:
    secret = generate_totp_secret()
    TOTP.activate(alice, secret)
    [recovery, *_] = RecoveryCodes.activate(alice).get_unused_codes()
    for browser in browsers:
        assert browser.sign_in(EMAIL, PASSWORD).headers["Location"] == SECOND
    code = code_of(secret) if kind == "app" else recovery
    race(browsers, SECOND, lambda _: {"code": code})
    assert [browser.is_signed_in for browser in browsers].count(True) == 1


def test_of_confirmations_with_one_code_one_wins_and_takes_the_app_away(
    alice: Account, browsers: list[Browser]
) -> None:
    for browser in browsers:
        assert browser.sign_in(EMAIL, PASSWORD).status_code == 303
    secret = generate_totp_secret()
    TOTP.activate(alice, secret)
    code = code_of(secret)
    race(browsers, REAUTHENTICATE, lambda _: {"code": code})
    opened = [browser.get(DEACTIVATE) for browser in browsers]
    assert [page.status_code for page in opened].count(200) == 1
    [winner] = [browser for browser, page in zip(browsers, opened, strict=True) if page.status_code == 200]
    assert winner.submit(DEACTIVATE, {}).status_code == 303
    assert not Authenticator.objects.exists()


def confirmed(browsers: list[Browser]) -> None:
    for browser in browsers:
        assert browser.sign_in(EMAIL, PASSWORD).status_code == 303
        assert browser.submit("/account/reauthenticate/", {"password": PASSWORD}).status_code == 303


def secret_of(browser: Browser) -> str:
    return (
        browser.get(ACTIVATE).text.partition('id="authenticator_secret"')[2].partition('value="')[2].partition('"')[0]
    )


def test_of_enrolments_at_once_one_wins_whole(alice: Account, browsers: list[Browser]) -> None:
    confirmed(browsers)
    tokens = [browser.token(ACTIVATE) for browser in browsers]
    secrets = [secret_of(browser) for browser in browsers]
    assert len(set(secrets)) == BROWSERS
    codes = [code_of(secret) for secret in secrets]
    calls = [
        (lambda n=n, browser=browser: browser.post(ACTIVATE, {"code": codes[n]}, tokens[n]))
        for n, browser in enumerate(browsers)
    ]
    places = [answer.headers.get("Location") for answer in at_once(*calls)]
    assert places.count("/account/2fa/recovery-codes/") == 1
    assert places.count(DEACTIVATE) == BROWSERS - 1
    assert sorted(Authenticator.objects.values_list("type", flat=True)) == ["recovery_codes", "totp"]
