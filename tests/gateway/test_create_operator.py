"""`manage.py create_operator`: the first operator of a gateway, with a password that is none of the weak ones."""

import sys
from io import StringIO
from typing import Any

import pytest
from allauth.account.models import EmailAddress
from allauth.mfa.models import Authenticator
from django.contrib.admin.models import LogEntry
from django.core.management import CommandError, call_command
from django.test import Client
from django.utils import timezone

from accounts.models import Account, DeviceSession
from gateway import operator_roles
from tests.gateway.console import make_session
from tests.gateway.operators import address

pytestmark = pytest.mark.django_db

EMAIL = "boss@service.example"
PASSWORD = "correct horse battery"
WEAK = ["", "short", "12345678901", "password1", EMAIL]


def run(monkeypatch: pytest.MonkeyPatch, who: str, *arguments: str, typed: str = PASSWORD) -> str:
    """Run the command with a line on its standard input, and return what it printed."""
    monkeypatch.setattr(sys, "stdin", StringIO(f"{typed}\n"))
    out = StringIO()
    call_command("create_operator", who, *arguments, stdout=out)
    return out.getvalue()


def opens_the_console(login: str, password: str = PASSWORD) -> bool:
    form = {"username": login, "password": password, "next": "/admin/"}
    return Client().post("/admin/login/", form).status_code == 303


def person(**fields: Any) -> Account:
    return Account.objects.create_user("did:web:studio.example:alice", EMAIL, "her own password", **fields)


def test_makes_an_operator_who_can_sign_in(monkeypatch: pytest.MonkeyPatch) -> None:
    printed = run(monkeypatch, EMAIL)
    operator = Account.objects.get(email=EMAIL)
    assert printed == f"Created the operator {EMAIL} ({operator.did}).\n"
    assert (operator.is_staff, operator.is_superuser) == (True, True)
    assert opens_the_console(EMAIL)


@pytest.mark.parametrize("typed", WEAK)
def test_refuses_a_weak_password(monkeypatch: pytest.MonkeyPatch, typed: str) -> None:
    with pytest.raises(CommandError, match=r"Nothing has changed\.$"):
        run(monkeypatch, EMAIL, typed=typed)
    assert not Account.objects.exists()


@pytest.mark.parametrize("who", ["boss", "boss@", "", "did:web:studio.example:nobody"])
def test_refuses_somebody_who_is_nobody(monkeypatch: pytest.MonkeyPatch, who: str) -> None:
    with pytest.raises(CommandError, match=r"neither an email address nor a DID|There is no account"):
        run(monkeypatch, who)
    assert not Account.objects.exists()


def test_promotes_an_account_that_has_proven_its_address_and_keeps_its_password(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    alice = person()
    EmailAddress.objects.create(user=alice, email=EMAIL, primary=True, verified=True)
    assert run(monkeypatch, EMAIL.upper()) == f"{EMAIL.upper()} ({alice.did}) was given every right.\n"
    assert opens_the_console(EMAIL, "her own password")
    assert run(monkeypatch, EMAIL) == f"{EMAIL} ({alice.did}) was an operator already. Nothing has changed.\n"


@pytest.mark.parametrize("verification", ["mandatory", "none"])
def test_never_promotes_whoever_merely_claimed_the_address(
    monkeypatch: pytest.MonkeyPatch, settings: Any, verification: str
) -> None:
    settings.ACCOUNT_EMAIL_VERIFICATION = verification
    claimant = person()
    EmailAddress.objects.create(user=claimant, email=EMAIL, primary=True)
    if verification == "mandatory":
        run(monkeypatch, EMAIL)
        assert Account.objects.get(email=EMAIL) != claimant
    else:
        with pytest.raises(CommandError, match=f"create_operator {claimant.did}$"):
            run(monkeypatch, EMAIL)
    claimant.refresh_from_db()
    assert (claimant.is_staff, claimant.is_superuser) == (False, False)


def test_lets_an_operator_in_again_who_was_locked_out(monkeypatch: pytest.MonkeyPatch) -> None:
    alice = person(is_active=False, suspended_at=timezone.now())
    make_session()
    assert run(monkeypatch, alice.did, "--set-password") == (
        f"{alice.did} ({alice.did}) was given every right, activated, given the new password and signed out everywhere, "
        "unsuspended.\n"
    )
    assert opens_the_console(alice.did)
    assert DeviceSession.objects.get().revoked_at is not None


def test_gives_a_password_to_an_account_that_has_none(monkeypatch: pytest.MonkeyPatch) -> None:
    Account.objects.create_user("did:web:studio.example:alice")
    run(monkeypatch, "did:web:studio.example:alice")
    assert opens_the_console("did:web:studio.example:alice")
    assert address("index") == "/admin/"


def log() -> list[str]:
    return list(LogEntry.objects.order_by("id").values_list("change_message", flat=True))


class TestARole:
    @pytest.fixture(autouse=True)
    def _kept(self, db: None) -> None:
        operator_roles.keep()

    def test_is_given_to_a_new_operator_instead_of_every_right(self, monkeypatch: pytest.MonkeyPatch) -> None:
        printed = run(monkeypatch, EMAIL, "--role", "support")
        operator = Account.objects.get(email=EMAIL)
        assert printed == f"Created the operator {EMAIL} ({operator.did}) with the role support.\n"
        assert (operator.is_staff, operator.is_superuser) == (True, False)
        assert list(operator.groups.values_list("name", flat=True)) == ["Support"]
        assert opens_the_console(EMAIL)
        assert log() == ["Created by manage.py create_operator: the role support"]

    def test_replaces_another_role(self, monkeypatch: pytest.MonkeyPatch) -> None:
        alice = person()
        for role in ("finance", "viewer"):
            assert run(monkeypatch, alice.did, "--role", role) == (
                f"{alice.did} ({alice.did}) was given the role {role}.\n"
            )
        assert list(alice.groups.values_list("name", flat=True)) == ["Viewer"]
        assert "Nothing has changed" in run(monkeypatch, alice.did, "--role", "viewer")
        assert log() == [f"Updated by manage.py create_operator: given the role {one}" for one in ("finance", "viewer")]

    def test_never_takes_every_right_away(self, monkeypatch: pytest.MonkeyPatch) -> None:
        run(monkeypatch, EMAIL)
        boss = Account.objects.get(email=EMAIL)
        with pytest.raises(CommandError, match="has every permission"):
            run(monkeypatch, boss.did, "--role", "viewer")
        boss.refresh_from_db()
        assert boss.is_superuser
        assert not boss.groups.exists()

    def test_must_be_one(self, monkeypatch: pytest.MonkeyPatch) -> None:
        with pytest.raises(CommandError, match="invalid choice"):
            run(monkeypatch, EMAIL, "--role", "king")
        assert not Account.objects.exists()


class TestALostSecondFactor:
    def test_is_reset_with_the_sessions(self, monkeypatch: pytest.MonkeyPatch) -> None:
        run(monkeypatch, EMAIL)
        boss = Account.objects.get(email=EMAIL)
        client = Client()
        client.force_login(boss, backend="django.contrib.auth.backends.ModelBackend")
        Authenticator.objects.create(user=boss, type="totp", data={"secret": "x"})
        Authenticator.objects.create(user=boss, type="recovery_codes", data={"seed": "x", "used_mask": 0})
        printed = run(monkeypatch, boss.did, "--reset-second-factor")
        assert printed == f"{boss.did} ({boss.did}) was freed of 1 second factor and signed out everywhere.\n"
        assert not Authenticator.objects.exists()
        assert client.get("/admin/").status_code == 302
        assert opens_the_console(EMAIL)
        assert log()[1:] == ["Updated by manage.py create_operator: freed of 1 second factor and signed out everywhere"]

    def test_of_somebody_else_is_not(self, monkeypatch: pytest.MonkeyPatch) -> None:
        alice = person()
        Authenticator.objects.create(user=alice, type="totp", data={"secret": "x"})
        for who in (alice.did, "nobody@service.example"):
            with pytest.raises(CommandError, match=r"is no operator\. Nothing has changed"):
                run(monkeypatch, who, "--reset-second-factor")
        assert Authenticator.objects.count() == 1
        assert log() == []
