"""`manage.py create_operator`: the first operator of a gateway, with a password that is none of the weak ones."""

import sys
from io import StringIO
from typing import Any

import pytest
from allauth.account.models import EmailAddress
from django.core.management import CommandError, call_command
from django.test import Client
from django.utils import timezone

from accounts.models import Account, DeviceSession
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
