"""Adding, changing and removing second factors, with concurrent use, cancellation and end of session."""

import threading
import time
from collections.abc import Callable
from typing import Any

import pytest
from allauth.mfa.models import Authenticator
from allauth.mfa.recovery_codes.internal.auth import RecoveryCodes
from allauth.mfa.totp.internal.auth import SECRET_SESSION_KEY, TOTP, generate_totp_secret
from django.db import connection, transaction
from django.test import Client
from django.utils import timezone

from accounts.models import Account
from accounts.operations import enrolments
from accounts.operations.suspension import suspend, unsuspend
from tests.portal.passkey import Passkey
from tests.portal.test_pages import PASSWORD, sign_up
from tests.portal.test_passkeys import ADD, STATE, challenge_of, is_signed_in
from tests.portal.test_second_factor_races import ACTIVATE, DEACTIVATE, REAUTHENTICATE, SECOND, code_of

pytestmark = pytest.mark.django_db

SIGN_IN = {"login": "alice@example.com", "password": PASSWORD}
CODES = "/account/2fa/recovery-codes/"
# Of this database: other workers' tests wait for locks in theirs, on the same server.
WAITING = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"


@pytest.fixture
def alice(client: Client) -> Account:
    """Sign Alice up; the client is her browser, where she has just entered her password."""
    sign_up(client)
    return Account.objects.get(email="alice@example.com")


def shown(client: Client) -> str:
    """Open the page that adds an authenticator app; return the secret that it shows."""
    client.get(ACTIVATE)
    return str(client.session[SECRET_SESSION_KEY])


def at_second_factor() -> Client:
    browser = Client()
    assert browser.post("/account/login/", SIGN_IN)["Location"] == SECOND
    return browser


@pytest.mark.parametrize("blank", ["", " ", "-"])
def test_the_code_that_added_an_app_cannot_be_used_to_sign_in(client: Client, alice: Account, blank: str) -> None:
    code = code_of(shown(client))
    assert client.post(ACTIVATE, {"code": code}).status_code == 303
    again = code[:3] + blank + code[3:]
    browser = at_second_factor()
    browser.post(SECOND, {"code": again})
    assert not is_signed_in(browser)
    client.post(REAUTHENTICATE, {"code": again})
    records = client.session["account_authentication_methods"]
    assert [record["method"] for record in records if record.get("reauthenticated")] == ["password"]


def test_a_secret_that_was_cancelled_or_removed_is_added_no_more(client: Client, alice: Account) -> None:
    cancelled = shown(client)
    secret = shown(client)
    assert client.post(ACTIVATE, {"code": code_of(cancelled)}).status_code == 200
    assert client.post(ACTIVATE, {"code": code_of(secret)}).status_code == 303
    assert client.post(DEACTIVATE).status_code == 303
    assert not Authenticator.objects.exists()
    assert client.post(ACTIVATE, {"code": code_of(secret)}).status_code == 200
    assert not Authenticator.objects.exists()


def changed_password(alice: Account) -> None:
    other = Client()
    other.force_login(alice)
    new = {"password1": "another horse battery", "password2": "another horse battery"}
    assert other.post("/account/password/change/", {"oldpassword": PASSWORD, **new}).status_code == 303


def suspended_for_a_while(alice: Account) -> None:
    suspend(account=alice, now=timezone.now())
    unsuspend(account=alice)


@pytest.mark.parametrize("ended", [changed_password, suspended_for_a_while])
def test_a_sign_in_that_waits_for_its_second_factor_ends_with_the_sessions(alice: Account, ended: Any) -> None:
    secret = generate_totp_secret()
    TOTP.activate(alice, secret)
    browser = at_second_factor()
    ended(alice)
    page = browser.post(SECOND, {"code": code_of(secret)}, follow=True)
    assert "Sign in again" in page.content.decode()
    assert not is_signed_in(browser)


class WaitingRequest:
    """A request in another thread that waits for a row locked by this one's transaction."""

    def __init__(self, ask: Callable[[], Any]) -> None:
        self._ask, self._answers = ask, list[Any]()
        self._thread = threading.Thread(target=self._run)

    def begin(self) -> None:
        """Send it; return when it waits, or has wrongly completed."""
        self._thread.start()
        while self._thread.is_alive() and not self._waits():
            time.sleep(0.01)

    def answer(self) -> Any:
        """Return its response."""
        self._thread.join()
        return self._answers[0]

    def _run(self) -> None:
        self._answers.append(self._ask())
        connection.close()

    def _waits(self) -> bool:
        with connection.cursor() as cursor:
            cursor.execute(WAITING)
            return bool(cursor.fetchone()[0])


def stored() -> list[Any]:
    return list(Authenticator.objects.order_by("pk").values_list("type", "data"))


PAGES = {
    "add an app": (ACTIVATE, "post"),
    "remove an app": (DEACTIVATE, "post"),
    "make codes": (f"{CODES}generate/", "post"),
    "show codes": (CODES, "get"),
    "download codes": (f"{CODES}download/", "get"),
    "add a passkey": (ADD, "post"),
    "rename a passkey": ("/account/2fa/webauthn/keys/{pk}/edit/", "post"),
    "remove a passkey": ("/account/2fa/webauthn/keys/{pk}/remove/", "post"),
}


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("page", PAGES.values(), ids=list(PAGES))
def test_a_waiting_change_checks_the_session_again(client: Client, alice: Account, page: tuple[str, str]) -> None:
    form = {"name": "Mine", "code": code_of(shown(client))}
    client.get(ADD)
    passkey = Passkey()
    client.post(ADD, {"name": "Key", "credential": passkey.made(challenge_of(client))})
    client.get(ADD)
    form["credential"] = Passkey().made(challenge_of(client))
    assert client.session[STATE]
    if page[0] == DEACTIVATE:
        TOTP.activate(alice, generate_totp_secret())
    RecoveryCodes(Authenticator.objects.get(type="recovery_codes")).mark_as_viewed()
    path, before = page[0].format(pk=Authenticator.objects.get(type="webauthn").pk), stored()
    ask = WaitingRequest(lambda: getattr(client, page[1])(path, form if page[1] == "post" else {}))
    with transaction.atomic():
        enrolments.lock(alice)
        ask.begin()
        suspended_for_a_while(alice)
    assert ask.answer()["Location"].startswith("/account/login/")
    assert stored() == before


@pytest.mark.django_db(transaction=True)
def test_a_code_used_while_codes_are_first_shown_remains_used(client: Client, alice: Account) -> None:
    TOTP.activate(alice, generate_totp_secret())
    codes = RecoveryCodes.activate(alice)
    [code, *_] = codes.get_unused_codes()
    ask = WaitingRequest(lambda: client.get(CODES))
    with transaction.atomic():
        assert codes.validate_code(code)
        ask.begin()
    assert ask.answer().status_code == 200
    codes.instance.refresh_from_db()
    assert codes.did_view
    assert code not in codes.get_unused_codes()
