"""Suspended accounts: sign-in is refused, and existing sessions end."""

from typing import Any

import pytest
from allauth.mfa.adapter import get_adapter
from allauth.mfa.models import Authenticator
from allauth.mfa.totp.internal.auth import (
    format_hotp_value,
    generate_totp_secret,
    hotp_value,
    yield_hotp_counters_from_time,
)
from django.core import mail
from django.test import Client
from django.utils import timezone

from accounts.models import Account
from accounts.operations.suspension import suspend, unsuspend
from tests.portal.test_pages import PASSWORD, sign_up

pytestmark = pytest.mark.django_db

PAGES = (
    "/",
    "/apps",
    "/developers",
    "/organizations",
    "/wallet",
    "/account/2fa/",
    "/account/sessions/",
    "/account/password/change/",
)
SIGN_IN = {"login": "alice@example.com", "password": PASSWORD}


@pytest.fixture
def alice(client: Client) -> Account:
    """Sign Alice up; the client is her browser."""
    sign_up(client)
    return Account.objects.get(email="alice@example.com")


def is_signed_in(client: Client) -> bool:
    return client.get("/").status_code == 200


def a_code(secret: str) -> str:
    [counter] = yield_hotp_counters_from_time()
    return format_hotp_value(hotp_value(secret, counter))


@pytest.mark.parametrize("path", PAGES)
def test_every_page_is_a_strangers_at_once(client: Client, alice: Account, path: str) -> None:
    assert client.get(path).status_code != 302 or path.startswith("/account/")
    suspend(account=alice, now=timezone.now())
    answer = client.get(path)
    assert answer.status_code == 302
    assert answer["Location"].startswith("/account/login/")
    assert client.get("/api/organizations").status_code == 401


def test_pages_check_the_account_and_not_only_the_session(client: Client, alice: Account) -> None:
    Account.objects.filter(pk=alice.pk).update(suspended_at=timezone.now())
    assert not is_signed_in(client)
    Account.objects.filter(pk=alice.pk).update(suspended_at=None)
    assert not is_signed_in(client), "the session was ended, not hidden"


def test_sessions_do_not_come_back_with_the_account(client: Client, alice: Account) -> None:
    suspend(account=alice, now=timezone.now())
    unsuspend(account=alice)
    assert not is_signed_in(client)
    assert client.post("/account/login/", SIGN_IN).status_code == 303
    assert is_signed_in(client)


def test_a_sign_in_that_was_under_way_ends_with_the_suspension(client: Client, alice: Account) -> None:
    suspend(account=alice, now=timezone.now())
    unsuspend(account=alice)
    late = Client()
    late.force_login(alice)  # with the session hash from before the suspension
    assert not is_signed_in(late)


def test_sign_in_by_password_is_refused(alice: Account) -> None:
    suspend(account=alice, now=timezone.now())
    stranger = Client()
    page = stranger.post("/account/login/", SIGN_IN, follow=True).content.decode()
    assert "This account is suspended" in page
    assert not is_signed_in(stranger)
    assert "suspended" not in stranger.post("/account/login/", {**SIGN_IN, "password": "wrong"}).content.decode()


def test_a_sign_in_that_began_before_the_suspension_is_refused(alice: Account) -> None:
    secret = generate_totp_secret()
    Authenticator.objects.create(user=alice, type="totp", data={"secret": get_adapter().encrypt(secret)})
    browser = Client()
    assert browser.post("/account/login/", SIGN_IN)["Location"] == "/account/2fa/authenticate/"
    suspend(account=alice, now=timezone.now())
    page = browser.post("/account/2fa/authenticate/", {"code": a_code(secret)}, follow=True).content.decode()
    assert "This account is suspended" in page
    assert not is_signed_in(browser)


def test_no_second_factor_is_requested_for_a_suspended_account(alice: Account) -> None:
    Authenticator.objects.create(user=alice, type="totp", data={"secret": get_adapter().encrypt("x")})
    suspend(account=alice, now=timezone.now())
    assert Client().post("/account/login/", SIGN_IN)["Location"] == "/account/inactive/"


def test_a_password_reset_does_not_lift_it(alice: Account, settings: Any) -> None:
    settings.MAIL_IS_CONFIGURED = True
    stranger = Client()
    stranger.post("/account/password/reset/", {"email": "alice@example.com"})
    link = "/account/" + str(mail.outbox[0].body).partition("/account/")[2].split()[0]
    suspend(account=alice, now=timezone.now())
    form = stranger.get(link)["Location"]
    stranger.post(form, {"password1": "another horse battery", "password2": "another horse battery"})
    assert not is_signed_in(stranger)
    stranger.post("/account/login/", {**SIGN_IN, "password": "another horse battery"})
    assert not is_signed_in(stranger)


@pytest.fixture
def operator() -> Account:
    return Account.objects.create_superuser("did:web:localhost:operator", "operator@localhost", PASSWORD)


def test_an_operator_is_out_of_the_console_at_once(operator: Account) -> None:
    browser = Client()
    form = {"username": "operator@localhost", "password": PASSWORD}
    assert browser.post("/admin/login/", form).status_code == 303
    assert browser.get("/admin/").status_code == 200
    suspend(account=operator, now=timezone.now())
    assert browser.get("/admin/").status_code == 302
    assert browser.post("/admin/login/", form).status_code == 200
    assert browser.get("/admin/").status_code == 302
