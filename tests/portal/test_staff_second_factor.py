"""With STAFF_SECOND_FACTOR, no page of the console opens without a second factor, however the session began."""

import re
from typing import Any

import pytest
from allauth.mfa.models import Authenticator
from allauth.mfa.recovery_codes.internal.auth import RecoveryCodes
from allauth.mfa.totp.internal.auth import TOTP, generate_totp_secret
from django.contrib.auth.models import Permission
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from pytest_django import Settings

from accounts.models import Account
from accounts.operations import enrolments
from tests.gateway.every_url import templates
from tests.portal.identity_provider import IdentityProvider
from tests.portal.passkey import Passkey
from tests.portal.test_identity_provider import sign_in as sign_in_at_provider
from tests.portal.test_passkeys import ADD, SECOND, SIGN_IN, add, begun, challenge_of
from tests.portal.test_second_factor_races import code_of

pytestmark = pytest.mark.django_db

DID, EMAIL, PASSWORD = "did:web:localhost:operator", "operator@service.example", "correct horse battery"
CONSOLE, TABLE = "/admin/", "/admin/accounts/account/"
SET_UP = "/account/2fa/console/?next=%2Fadmin%2F"
ACTIVATE, DEACTIVATE = "/account/2fa/totp/activate/", "/account/2fa/totp/deactivate/"
REAUTHENTICATE, BY_PASSKEY = "/account/2fa/reauthenticate/", "/account/2fa/webauthn/reauthenticate/"
OPEN = {"/admin/login/", "/admin/logout/"}


@pytest.fixture(autouse=True)
def required(settings: Settings) -> None:
    settings.STAFF_SECOND_FACTOR = True


@pytest.fixture
def operator() -> Account:
    return Account.objects.create_superuser(DID, EMAIL, PASSWORD)


def console_sign_in(client: Client, page: str = CONSOLE) -> str:
    """Send the console's form; return where it leads."""
    answer = client.post(f"/admin/login/?next={page}", {"username": EMAIL, "password": PASSWORD})
    return str(answer.headers.get("Location", ""))


def portal_sign_in(client: Client) -> str:
    return str(client.post("/account/login/", {"login": EMAIL, "password": PASSWORD}).headers.get("Location", ""))


def opens(client: Client, page: str = CONSOLE) -> bool:
    """Return whether a page of the console opens; if not, it must lead to the second factor or to the sign-in."""
    answer = client.get(page)
    if answer.status_code != 200:
        assert answer.status_code == 302, answer.status_code
        assert re.match(r"/account/2fa/console/\?next=|/admin/login/\?next=", answer["Location"]), answer["Location"]
        assert answer.content == b""
    return answer.status_code == 200


def app_of(operator: Account) -> str:
    """Add an authenticator app to the operator, and return its secret."""
    secret = generate_totp_secret()
    TOTP.activate(operator, secret)
    return secret


def set_up_app(client: Client) -> str:
    """Add an authenticator app on its page; return its secret."""
    page = client.get(ACTIVATE)
    secret: str = page.context["form"].secret
    assert client.post(ACTIVATE, {"code": code_of(secret)}).status_code == 303
    return secret


class TestTheFirstSignIn:
    def test_leads_to_a_passkey_and_then_the_console(self, client: Client, operator: Account) -> None:
        assert console_sign_in(client) == CONSOLE
        assert client.get(CONSOLE)["Location"] == SET_UP
        page = client.get(SET_UP).content.decode()
        assert "<h1>Set up a second factor</h1>" in page
        assert {ADD, ACTIVATE} <= set(re.findall(r'href="([^"]+)"', page))
        assert add(client, Passkey())["Location"] == "/account/2fa/recovery-codes/"
        assert '<a class="button second" href="/admin/">' in client.get("/account/2fa/recovery-codes/").content.decode()
        assert opens(client)
        assert RecoveryCodes(Authenticator.objects.get(type="recovery_codes")).get_unused_codes()

    def test_leads_to_an_authenticator_app_and_then_the_console(self, client: Client, operator: Account) -> None:
        console_sign_in(client)
        assert not opens(client, TABLE)
        set_up_app(client)
        assert opens(client, TABLE)
        assert client.get(SET_UP)["Location"] == CONSOLE

    @pytest.mark.usefixtures("untracked", "remembered_sign_ins")
    def test_shows_nothing_of_the_console_before(self, client: Client, operator: Account) -> None:
        console_sign_in(client)
        walked = {re.sub(r"\{\w+\}", str(operator.pk), path) for path in templates() if path.startswith("/admin/")}
        for path in sorted(walked - OPEN):
            for method in ("get", "post"):
                answer = getattr(client, method)(path)
                assert (answer.status_code, answer.content) in ((302, b""), (303, b"")), path
                assert answer["Location"].startswith("/account/2fa/console/?next=%2Fadmin%2F"), path
        assert len(walked) > 300

    def test_a_dialog_leads_the_whole_page_away(self, client: Client, operator: Account) -> None:
        console_sign_in(client)
        answer = client.get(f"{TABLE}{operator.pk}/suspend/", headers={"HX-Request": "true"})
        assert (answer.status_code, answer.content, answer["HX-Redirect"]) == (200, b"", SET_UP)

    def test_an_operator_can_still_sign_out(self, client: Client, operator: Account) -> None:
        console_sign_in(client)
        client.post("/admin/logout/")
        assert client.get(CONSOLE)["Location"] == "/admin/login/?next=/admin/"

    def test_other_people_are_not_concerned(self, client: Client) -> None:
        Account.objects.create_user("did:web:localhost:alice", EMAIL, PASSWORD)
        portal_sign_in(client)
        assert client.get("/").status_code == 200
        assert client.get(CONSOLE)["Location"] == "/admin/login/?next=/admin/"
        assert client.get(SET_UP)["Location"] == CONSOLE

    def test_off_asks_for_nothing(self, client: Client, operator: Account, settings: Settings) -> None:
        settings.STAFF_SECOND_FACTOR = False
        console_sign_in(client)
        assert opens(client)


class TestLaterSignIns:
    def test_the_console_asks_for_a_code_after_the_password(self, client: Client, operator: Account) -> None:
        secret = app_of(operator)
        assert console_sign_in(client, TABLE) == SECOND
        assert not opens(client)
        assert client.post(SECOND, {"code": "000000"}).status_code == 200
        assert not opens(client)
        assert client.post(SECOND, {"code": code_of(secret)})["Location"] == TABLE
        assert opens(client, TABLE)

    def test_a_passkey_alone_opens_it(self, client: Client, operator: Account) -> None:
        passkey = Passkey()
        console_sign_in(client)
        add(client, passkey)
        other = Client()
        other.post(SIGN_IN, {"credential": passkey.proof(begun(other), operator)})
        assert opens(other)

    def test_a_recovery_code_opens_it_once(self, client: Client, operator: Account) -> None:
        app_of(operator)
        [code, *_] = RecoveryCodes.activate(operator).get_unused_codes()
        assert console_sign_in(client) == SECOND
        assert client.post(SECOND, {"code": code})["Location"] == CONSOLE
        assert opens(client)
        other = Client()
        console_sign_in(other)
        assert other.post(SECOND, {"code": code}).status_code == 200
        assert not opens(other)

    def test_the_portals_session_opens_it_after_its_second_factor(self, client: Client, operator: Account) -> None:
        secret = app_of(operator)
        assert portal_sign_in(client) == SECOND
        client.post(SECOND, {"code": code_of(secret)})
        assert opens(client)


class TestNoWayAround:
    def test_a_session_from_before_the_setting_must_pass_it(
        self, client: Client, operator: Account, settings: Settings
    ) -> None:
        settings.STAFF_SECOND_FACTOR = False
        console_sign_in(client)
        assert opens(client)
        settings.STAFF_SECOND_FACTOR = True
        assert not opens(client)
        secret = app_of(operator)
        assert client.get(SET_UP)["Location"] == f"{REAUTHENTICATE}?next=%2Fadmin%2F"
        answer = client.post(f"{REAUTHENTICATE}?next=/admin/", {"code": code_of(secret)})
        assert answer["Location"] == CONSOLE
        assert opens(client)

    def test_a_session_without_it_adds_and_removes_no_factor(self, client: Client, operator: Account) -> None:
        """Somebody who knows the password signed in before the operator had a factor, and must not add their own."""
        console_sign_in(client)
        add(client, Passkey())
        thief = Client()
        thief.force_login(operator, backend="django.contrib.auth.backends.ModelBackend")
        before = list(Authenticator.objects.order_by("pk").values())
        passkey = Authenticator.objects.get(type="webauthn").pk
        assert thief.post("/account/reauthenticate/", {"password": PASSWORD}).status_code == 303
        for path in (
            *(ADD, ACTIVATE, DEACTIVATE, "/account/2fa/recovery-codes/", "/account/2fa/recovery-codes/download/"),
            *("/account/2fa/recovery-codes/generate/", f"/account/2fa/webauthn/keys/{passkey}/remove/"),
            f"/account/2fa/webauthn/keys/{passkey}/edit/",
        ):
            for method in ("get", "post"):
                answer = getattr(thief, method)(path, {"name": "Mine", "credential": "{}"})
                assert answer["Location"].startswith(f"{BY_PASSKEY}?next="), path
        assert list(Authenticator.objects.order_by("pk").values()) == before
        assert not opens(thief)
        assert opens(client)

    def test_a_password_confirmed_again_is_no_second_factor(self, client: Client, operator: Account) -> None:
        console_sign_in(client)
        app_of(operator)
        client.post("/account/reauthenticate/?next=/admin/", {"password": PASSWORD})
        assert not opens(client)

    def test_an_identity_provider_does_not_replace_it(
        self, client: Client, identity_provider: IdentityProvider, settings: Settings
    ) -> None:
        sign_in_at_provider(client)
        person = Account.objects.get()
        Account.objects.update(is_staff=True)
        assert not opens(client)
        secret = app_of(person)
        other = Client()
        assert sign_in_at_provider(other, "?next=/admin/") == SECOND
        assert not opens(other)
        other.post(SECOND, {"code": code_of(secret)})
        assert opens(other)

    def test_whoever_becomes_an_operator_with_an_open_session_must_pass_it(self, client: Client) -> None:
        clerk = Account.objects.create_user(DID, EMAIL, PASSWORD)
        portal_sign_in(client)
        clerk.is_staff = True
        clerk.save()
        clerk.user_permissions.add(Permission.objects.get(codename="view_account"))
        assert not opens(client, TABLE)

    def test_the_factor_of_somebody_else_does_not_count(self, client: Client, operator: Account) -> None:
        other = Account.objects.create_superuser("did:web:localhost:other", "other@service.example", PASSWORD)
        mine = app_of(operator)
        console_sign_in(client)
        client.post(SECOND, {"code": code_of(mine)})
        assert opens(client)
        app_of(other)
        client.force_login(other, backend="django.contrib.auth.backends.ModelBackend")
        assert not opens(client)

    def test_a_factor_that_was_removed_opens_nothing_more(self, client: Client, operator: Account) -> None:
        secret = app_of(operator)
        console_sign_in(client)
        client.post(SECOND, {"code": code_of(secret)})
        assert opens(client)
        Authenticator.objects.all().delete()
        assert not opens(client)
        app_of(operator)
        assert not opens(client)

    def test_after_a_reset_every_session_has_ended(self, client: Client, operator: Account) -> None:
        secret = app_of(operator)
        RecoveryCodes.activate(operator)
        console_sign_in(client)
        client.post(SECOND, {"code": code_of(secret)})
        assert enrolments.reset(operator, now=timezone.now()) == 1
        assert not Authenticator.objects.exists()
        assert client.get(CONSOLE)["Location"] == "/admin/login/?next=/admin/"
        assert console_sign_in(client) == CONSOLE
        assert client.get(CONSOLE)["Location"] == SET_UP

    def test_a_superuser_who_removes_a_lost_factor_ends_the_sessions(self, client: Client, operator: Account) -> None:
        secret = app_of(operator)
        console_sign_in(client)
        client.post(SECOND, {"code": code_of(secret)})
        other = Account.objects.create_superuser("did:web:localhost:other", None, "x")
        lost = TOTP.activate(other, generate_totp_secret()).instance
        theirs = Client()
        theirs.force_login(other, backend="django.contrib.auth.backends.ModelBackend")
        assert theirs.get("/account/2fa/").status_code == 200
        client.post(reverse("admin:mfa_authenticator_delete", args=[lost.pk]), {"post": "yes"})
        assert not Authenticator.objects.filter(user=other).exists()
        assert theirs.get("/account/2fa/").status_code == 302

    def test_htmx_and_odd_spellings_change_nothing(self, client: Client, operator: Account) -> None:
        console_sign_in(client)
        for path in ("/admin/?next=/account/login/", "/admin//", "/admin/%61ccounts/account/", "/admin/login/x"):
            answer = client.get(path, headers={"X-Forwarded-Prefix": "/x", "X-Original-URL": "/"})
            assert answer.status_code in (302, 404), path
            assert b"did:web:localhost" not in answer.content


class TestTheLastFactor:
    @pytest.fixture
    def passed(self, client: Client, operator: Account) -> Any:
        console_sign_in(client)
        passkey = Passkey()
        add(client, passkey)
        return passkey

    def removed(self, client: Client) -> Any:
        key = Authenticator.objects.get(type="webauthn").pk
        return client.post(f"/account/2fa/webauthn/keys/{key}/remove/")

    def test_stays(self, client: Client, passed: Passkey) -> None:
        assert self.removed(client)["Location"] == "/account/2fa/"
        assert "Add another one before you remove this one." in client.get("/account/2fa/").content.decode()
        assert Authenticator.objects.filter(type="webauthn").count() == 1
        assert opens(client)

    def test_stays_if_it_is_an_app(self, client: Client, operator: Account) -> None:
        console_sign_in(client)
        set_up_app(client)
        for method in ("get", "post"):
            assert getattr(client, method)(DEACTIVATE)["Location"] == "/account/2fa/"
        assert Authenticator.objects.filter(type="totp").count() == 1

    def test_may_go_when_there_is_another(self, client: Client, passed: Passkey) -> None:
        secret = set_up_app(client)
        self.removed(client)
        assert set(Authenticator.objects.values_list("type", flat=True)) == {"totp", "recovery_codes"}
        assert not opens(client)
        client.post(f"{REAUTHENTICATE}?next=/admin/", {"code": code_of(secret)})
        assert not opens(client)  # that code was used to set the app up, so it is refused

    def test_may_go_where_the_console_needs_none(self, client: Client, passed: Passkey, settings: Settings) -> None:
        settings.STAFF_SECOND_FACTOR = False
        self.removed(client)
        assert not Authenticator.objects.exists()


def test_a_passkey_confirms_a_session_from_before(client: Client, operator: Account) -> None:
    passkey = Passkey()
    console_sign_in(client)
    add(client, passkey)
    other = Client()
    other.force_login(operator, backend="django.contrib.auth.backends.ModelBackend")
    assert other.get(SET_UP)["Location"] == f"{BY_PASSKEY}?next=%2Fadmin%2F"
    other.get(BY_PASSKEY)
    proof = passkey.proof(challenge_of(other), operator)
    assert other.post(f"{BY_PASSKEY}?next=/admin/", {"credential": proof})["Location"] == CONSOLE
    assert opens(other)
