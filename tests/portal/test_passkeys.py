"""Attacks on passkeys: replayed responses, clones, stolen keys; and removal of the last one."""

import json
import re
from typing import Any

import pytest
from allauth.mfa.models import Authenticator
from django.test import Client
from django.utils import timezone
from pytest_django import Settings

from accounts.models import Account
from accounts.operations import enrolments
from accounts.operations.suspension import suspend
from tests.factories.accounts import make_account
from tests.portal.passkey import Passkey
from tests.portal.test_pages import PASSWORD, sign_up
from tests.support.concurrency import at_once

pytestmark = pytest.mark.django_db

ADD, SIGN_IN = "/account/2fa/webauthn/add/", "/account/2fa/webauthn/login/"
SECOND = "/account/2fa/authenticate/"
STATE = "mfa.webauthn.state"


@pytest.fixture
def alice(client: Client) -> Account:
    """Sign Alice up; the client is her browser, where she has just entered her password."""
    sign_up(client)
    client.post("/account/reauthenticate/", {"password": PASSWORD})
    return Account.objects.get(email="alice@example.com")


def challenge_of(client: Client) -> str:
    return str(client.session[STATE]["challenge"])


def add(client: Client, passkey: Passkey) -> Any:
    client.get(ADD)
    return client.post(ADD, {"name": "Key", "credential": passkey.made(challenge_of(client))})


def begun(client: Client) -> str:
    """Begin a sign-in by passkey; return its challenge."""
    client.get(SIGN_IN, HTTP_ACCEPT="application/json")
    return challenge_of(client)


def is_signed_in(client: Client) -> bool:
    return client.get("/").status_code == 200


def signs_in(passkey: Passkey, person: Account) -> bool:
    stranger = Client()
    stranger.post(SIGN_IN, {"credential": passkey.proof(begun(stranger), person)})
    return is_signed_in(stranger)


def test_a_passkey_signs_in_again_and_again(client: Client, alice: Account) -> None:
    passkey = Passkey()
    assert add(client, passkey).status_code == 303
    assert signs_in(passkey, alice)
    assert signs_in(passkey, alice)
    assert not signs_in(Passkey(), alice)
    assert not signs_in(passkey, make_account("bob"))


def test_an_answer_serves_once_though_its_challenge_comes_back(client: Client, alice: Account) -> None:
    passkey, stranger = Passkey(), Client()
    add(client, passkey)
    answer = passkey.proof(begun(stranger), alice)
    state = stranger.session[STATE]
    stranger.post(SIGN_IN, {"credential": answer})
    assert is_signed_in(stranger)
    thief = Client()
    begun(thief)
    session = thief.session
    session[STATE] = state  # as a concurrent request may have restored it
    session.save()
    thief.post(SIGN_IN, {"credential": answer})
    assert not is_signed_in(thief)


def test_a_registration_serves_once(client: Client, alice: Account) -> None:
    passkey = Passkey()
    client.get(ADD)
    state, form = client.session[STATE], {"name": "Key", "credential": passkey.made(challenge_of(client))}
    assert client.post(ADD, form).status_code == 303
    session = client.session
    session[STATE] = state
    session.save()
    assert client.post(ADD, form).status_code == 200
    assert Authenticator.objects.filter(type="webauthn").count() == 1


@pytest.mark.parametrize(
    ("counters", "accepted"),
    [
        ((0, 0, 0), (True, True)),
        ((5, 6, 9), (True, True)),
        ((5, 5, 6), (False, True)),
        ((5, 4, 6), (False, True)),
        ((5, 7, 7), (True, False)),
        ((5, 7, 0), (True, False)),
        ((0, 3, 2), (True, False)),
    ],
)
def test_a_copy_is_known_by_its_count(
    client: Client, alice: Account, counters: tuple[int, ...], accepted: tuple[bool, ...]
) -> None:
    passkey = Passkey(counter=counters[0])
    add(client, passkey)
    for counter, is_accepted in zip(counters[1:], accepted, strict=True):
        passkey.counter = counter
        assert signs_in(passkey, alice) is is_accepted


def test_renaming_a_passkey_keeps_its_count(client: Client, alice: Account) -> None:
    passkey = Passkey(counter=1)
    add(client, passkey)
    passkey.counter = 2
    assert signs_in(passkey, alice)
    [row] = Authenticator.objects.filter(type="webauthn")
    assert client.post(f"/account/2fa/webauthn/keys/{row.pk}/edit/", {"name": "Other"}).status_code in (302, 303)
    row.refresh_from_db()
    assert (row.data["name"], row.data["signatures"]) == ("Other", 2)


def test_a_key_without_user_verification_is_only_a_second_factor(client: Client, alice: Account) -> None:
    stolen = Passkey()
    add(client, stolen)
    stolen.verifies = False  # the thief does not know the PIN
    assert not signs_in(stolen, alice)
    second = Client()
    second.post("/account/login/", {"login": "alice@example.com", "password": PASSWORD})
    second.get(SECOND)
    second.post(SECOND, {"credential": stolen.proof(challenge_of(second), alice)})
    assert is_signed_in(second)


def test_a_second_factors_challenge_cannot_be_used_to_sign_in_with_a_stolen_key(client: Client, alice: Account) -> None:
    stolen = Passkey()
    add(client, stolen)
    stolen.verifies = False
    thief = Client()
    sign_up(thief, email="mallory@example.com")
    thief.post("/account/reauthenticate/", {"password": PASSWORD})
    add(thief, Passkey())
    thief.post("/account/logout/")
    thief.post("/account/login/", {"login": "mallory@example.com", "password": PASSWORD})
    thief.get(SECOND)  # its challenge does not require verification
    session = thief.session
    session["account_login"]["initiated_at"] -= 3600  # the sign-in has timed out, but the challenge remains
    session.save()
    thief.post(SIGN_IN, {"credential": stolen.proof(challenge_of(thief), alice)})
    assert not is_signed_in(thief)


def test_a_suspended_account_has_no_use_of_it(client: Client, alice: Account) -> None:
    passkey = Passkey()
    add(client, passkey)
    suspend(account=alice, now=timezone.now())
    assert not signs_in(passkey, alice)


def test_an_ended_session_cannot_add_one(client: Client, alice: Account) -> None:
    client.get(ADD)
    form = {"name": "Key", "credential": Passkey().made(challenge_of(client))}
    other = Client()
    other.post("/account/login/", {"login": "alice@example.com", "password": PASSWORD})
    other.get("/")
    other.post("/account/sessions/")
    assert client.post(ADD, form)["Location"].startswith("/account/login/")
    assert not Authenticator.objects.exists()


def types() -> list[str]:
    return sorted(Authenticator.objects.values_list("type", flat=True))


def test_recovery_codes_go_with_the_last_passkey_and_not_before(client: Client, alice: Account) -> None:
    add(client, Passkey())
    add(client, Passkey())
    assert types() == ["recovery_codes", "webauthn", "webauthn"]
    for left in (["recovery_codes", "webauthn"], []):
        row = Authenticator.objects.filter(type="webauthn").first()
        assert row is not None
        client.post(f"/account/2fa/webauthn/keys/{row.pk}/remove/")
        assert types() == left


def test_an_operator_leaves_no_recovery_codes_behind(client: Client, alice: Account) -> None:
    operator = Account.objects.create_superuser("did:web:localhost:operator", "operator@localhost", PASSWORD)
    console = Client()
    console.force_login(operator)
    for form in ({"action": "delete_selected", "post": "yes"}, None):
        add(client, Passkey())
        row = Authenticator.objects.get(type="webauthn")
        path = "/admin/mfa/authenticator/" if form else f"/admin/mfa/authenticator/{row.pk}/delete/"
        console.post(path, {**form, "_selected_action": [row.pk]} if form else {"post": "yes"})
        assert types() == []


class TestAdding:
    """Every new passkey can sign in by itself."""

    def test_the_browser_has_to_make_one_that_can(self, client: Client, alice: Account) -> None:
        page = client.get(ADD).content.decode()
        context = json.loads(
            page.partition('<script id="js_data" type="application/json">')[2].partition("</script>")[0]
        )
        chosen = context["creation_options"]["publicKey"]["authenticatorSelection"]
        assert (chosen["residentKey"], chosen["userVerification"]) == ("required", "required")
        assert challenge_of(client) == context["creation_options"]["publicKey"]["challenge"]
        assert "forms.signupForm" in page, "the script that leaves these options as they are"
        assert "passwordless" not in page.lower()

    def test_one_of_an_unverified_person_is_refused(self, client: Client, alice: Account) -> None:
        assert add(client, Passkey(verifies=False)).status_code == 200
        assert not Authenticator.objects.exists()

    def test_one_of_an_unverified_person_is_refused_by_any_challenge(self, client: Client, alice: Account) -> None:
        add(client, Passkey())
        client.get("/account/2fa/webauthn/reauthenticate/")  # its challenge does not require verification
        made = Passkey(verifies=False).made(challenge_of(client))
        assert client.post(ADD, {"name": "Key", "credential": made}).status_code == 200
        assert Authenticator.objects.filter(type="webauthn").count() == 1

    @pytest.mark.parametrize(("says", "stored"), [(False, 0), (True, 1), (None, 1)])
    def test_one_that_says_it_is_not_discoverable_is_refused(
        self, client: Client, alice: Account, says: bool | None, stored: int
    ) -> None:
        client.get(ADD)
        made = json.loads(Passkey().made(challenge_of(client)))
        made["clientExtensionResults"] = {} if says is None else {"credProps": {"rk": says}}
        client.post(ADD, {"name": "Key", "credential": json.dumps(made)})
        assert Authenticator.objects.filter(type="webauthn").count() == stored

    @pytest.mark.parametrize("odd", [[1], "x", 5, {"credProps": [1]}, {"credProps": "x"}])
    def test_malformed_extensions_cause_no_server_error(self, client: Client, alice: Account, odd: Any) -> None:
        client.get(ADD)
        made = {**json.loads(Passkey().made(challenge_of(client))), "clientExtensionResults": odd}
        assert client.post(ADD, {"name": "Key", "credential": json.dumps(made)}).status_code == 200
        assert not Authenticator.objects.exists()

    def test_without_a_name_they_are_counted(self, client: Client, alice: Account) -> None:
        for _ in range(2):
            client.get(ADD)
            client.post(ADD, {"name": "", "credential": Passkey().made(challenge_of(client))})
        rows = Authenticator.objects.filter(type="webauthn").order_by("pk")
        assert [row.data["name"] for row in rows] == ["Passkey", "Passkey 2"]


PAGES = (
    "/account/2fa/",
    ADD,
    "/account/2fa/webauthn/",
    "/account/2fa/webauthn/keys/{pk}/edit/",
    "/account/2fa/webauthn/keys/{pk}/remove/",
    "/account/2fa/webauthn/reauthenticate/",
    "/account/2fa/recovery-codes/",
    "/account/2fa/recovery-codes/generate/",
    "/account/2fa/totp/activate/",
    "/account/reauthenticate/",
)


@pytest.mark.parametrize("path", PAGES)
def test_every_page_says_passkey_and_no_other_word(client: Client, alice: Account, path: str) -> None:
    add(client, Passkey())
    row = Authenticator.objects.get(type="webauthn")
    page = client.get(path.format(pk=row.pk)).content.decode()
    words = re.sub(r"<script.*?</script>|<[^>]+>", " ", page, flags=re.DOTALL).lower()
    assert page.count("<h1") == 1
    for other in ("security key", "webauthn", "two-factor", "master key", "e-mail"):
        assert other not in words


def test_the_second_step_offers_a_passkey(client: Client, alice: Account) -> None:
    add(client, Passkey())
    second = Client()
    second.post("/account/login/", {"login": "alice@example.com", "password": PASSWORD})
    page = second.get(SECOND).content.decode()
    assert ">Use a passkey</button>" in page
    assert "security key" not in page.lower()


@pytest.mark.parametrize("mail", [True, False])
def test_security_leads_to_everything_that_protects_the_account(
    client: Client, alice: Account, settings: Settings, mail: bool
) -> None:
    settings.MAIL_IS_CONFIGURED = mail
    add(client, Passkey())
    page = client.get("/account/2fa/").content.decode()
    for path in ("webauthn/", "webauthn/add/", "recovery-codes/", "totp/activate/"):
        assert f'href="/account/2fa/{path}"' in page
    for path in ("/account/password/change/", "/account/sessions/", "/apps"):
        assert f'href="{path}"' in page
    assert ('href="/account/email/"' in page) is mail


@pytest.mark.django_db(transaction=True)
class TestAtOnce:
    """Concurrent requests of one browser."""

    @pytest.fixture
    def passkey(self, client: Client, alice: Account) -> Passkey:
        passkey = Passkey()
        add(client, passkey)
        return passkey

    def test_of_the_same_answer_one_wins(self, passkey: Passkey, alice: Account) -> None:
        first = Client()
        answer = {"credential": passkey.proof(begun(first), alice)}
        browsers = [Client() for _ in range(6)]
        for browser in browsers:
            browser.cookies["sessionid"] = first.cookies["sessionid"].value
        at_once(*[lambda browser=browser: browser.post(SIGN_IN, answer).status_code for browser in browsers])
        assert [is_signed_in(browser) for browser in browsers].count(True) == 1

    def test_a_challenge_is_accepted_once(self) -> None:
        assert at_once(*[lambda: enrolments.spend("challenge") for _ in range(8)]).count(True) == 1
