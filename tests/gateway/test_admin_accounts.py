"""Accounts, groups, devices and signing keys in the console: who may change whom."""

from typing import Any

import pytest
from django.contrib.admin.models import CHANGE
from django.contrib.auth.models import Group, Permission
from django.test import Client
from django.utils import timezone

from accounts.models import Account, Closing, DeviceSession, ReceiptKey, SigningKey
from accounts.operations import receipt_keys, signing_keys
from tests.factories.billing import Purse
from tests.gateway.console import ALICE, make_session
from tests.gateway.operators import address, clerk, logged

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("configured")]


def act(client: Client, page: str, action: str, *keys: object) -> Any:
    return client.post(
        address(page),
        {"action": action, "_selected_action": [str(key) for key in keys], "reason": "stolen"},
        follow=True,
    )


def decide(client: Client, verb: str, account: Account, **form: str) -> Any:
    return client.post(address(f"accounts_account_{verb}", account.pk), {"_form_submitted": "on", **form})


def test_an_account_is_suspended_with_its_devices_and_let_back_in(operator: Client) -> None:
    account, session = Account.objects.get(did=ALICE), make_session()

    answer = decide(operator, "suspend", account, reason="card was stolen")
    assert answer["HX-Redirect"] == address("accounts_account_change", account.pk)
    session.refresh_from_db()
    assert session.revoked_at is not None
    assert Account.objects.get(did=ALICE).suspended_at is not None
    assert decide(operator, "suspend", account, reason="again").status_code == 403

    decide(operator, "unsuspend", account, reason="a new card")
    assert Account.objects.get(did=ALICE).suspended_at is None
    assert decide(operator, "unsuspend", account, reason="again").status_code == 403
    assert logged() == [(CHANGE, "Suspended: card was stolen"), (CHANGE, "Suspension lifted: a new card")]


def test_an_accounts_page_offers_the_suspension_that_is_possible(operator: Client) -> None:
    account = Account.objects.get(did=ALICE)
    links = [f"/admin/accounts/account/{account.pk}/{verb}/" for verb in ("suspend", "unsuspend")]
    page = operator.get(address("accounts_account_change", account.pk)).content.decode()
    assert [link in page for link in links] == [True, False]
    assert "Its tokens and sessions end at once" in operator.get(links[0]).content.decode()
    decide(operator, "suspend", account, reason="r")
    page = operator.get(address("accounts_account_change", account.pk)).content.decode()
    assert [link in page for link in links] == [False, True]


@pytest.mark.parametrize("reason", ["", "gift\nSuspended: x", "r" * 201])
def test_an_account_is_not_suspended_without_a_reason(operator: Client, reason: str) -> None:
    account = Account.objects.get(did=ALICE)
    assert "HX-Redirect" not in decide(operator, "suspend", account, reason=reason)
    assert Account.objects.get(did=ALICE).suspended_at is None
    assert logged() == []


def test_an_operator_does_not_suspend_their_own_account(operator: Client) -> None:
    own = Account.objects.get(email="operator@localhost")
    assert decide(operator, "suspend", own, reason="r").status_code == 403
    assert Account.objects.get(pk=own.pk).suspended_at is None


def test_an_account_is_closed_for_good(operator: Client) -> None:
    account = Account.objects.get(did=ALICE)
    Account.objects.filter(pk=account.pk).update(display_name="Alice Liddell")
    assert "HX-Redirect" not in decide(operator, "close", account, reason="")
    assert decide(operator, "close", account, reason="asked by letter")["HX-Redirect"]
    assert Closing.objects.get().account == account
    for verb in ("close", "suspend", "unsuspend"):
        assert decide(operator, verb, account, reason="again").status_code == 403
    assert logged()[-1] == (CHANGE, "Closed: asked by letter")
    page = operator.get(address("accounts_account_change", account.pk))
    assert page.status_code == 200
    assert "closed" in page.content.decode()
    form = {"did": ALICE, "email": "alice@example.com", "display_name": "Alice", "is_active": "on"}
    assert operator.post(address("accounts_account_change", account.pk), form).status_code == 403
    listed = operator.get(address("accounts_account_changelist"), {"closing__isempty": "0"})
    assert ALICE in listed.content.decode()
    log = operator.get(address("admin_logentry_changelist")).content.decode()
    assert "Alice Liddell" not in log


def test_an_account_with_money_is_not_closed(operator: Client) -> None:
    account = Account.objects.get(did=ALICE)
    Purse("account", ALICE).pay(5_000_000)
    page = decide(operator, "close", account, reason="asked by letter")
    assert not Closing.objects.exists()
    assert page["HX-Redirect"]
    shown = operator.get(address("accounts_account_change", account.pk)).content.decode()
    assert "Nothing has changed. Your wallet has" in shown


def test_an_account_is_never_deleted_and_keeps_its_did(operator: Client) -> None:
    account = Account.objects.get(did=ALICE)
    assert operator.post(address("accounts_account_delete", account.pk), {"post": "yes"}).status_code == 403
    operator.post(address("accounts_account_change", account.pk), {"did": "did:web:other", "display_name": "Alice"})
    account.refresh_from_db()
    assert (account.did, account.display_name, account.email) == (ALICE, "Alice", None)


def test_only_an_operator_with_every_right_makes_operators() -> None:
    client = clerk("view_account", "change_account")
    alice = Account.objects.get(did=ALICE)
    client.post(
        address("accounts_account_change", alice.pk),
        {"display_name": "A", "is_active": "on", "is_staff": "on", "is_superuser": "on"},
    )
    alice.refresh_from_db()
    assert (alice.display_name, alice.is_staff, alice.is_superuser) == ("A", False, False)

    boss = Account.objects.create_superuser("did:web:localhost:boss", None, "x")
    assert client.post(address("accounts_account_change", boss.pk), {"display_name": "B"}).status_code == 403
    change_password = address("auth_user_password_change", boss.pk)
    assert (
        client.post(change_password, {"password1": "long-password-1", "password2": "long-password-1"}).status_code
        == 403
    )
    assert Account.objects.get(pk=boss.pk).check_password("x")


def test_only_an_operator_with_every_right_gives_rights_to_groups() -> None:
    client = clerk("view_group", "add_group", "change_group", "delete_group")
    group = Group.objects.create(name="Clerks")
    Account.objects.get(did="did:web:localhost:clerk").groups.add(group)
    every_right = {"name": "Clerks", "permissions": list(Permission.objects.values_list("pk", flat=True))}

    assert client.get(address("auth_group_change", group.pk)).status_code == 200
    assert client.post(address("auth_group_change", group.pk), every_right).status_code == 403
    assert client.post(address("auth_group_add"), every_right).status_code == 403
    assert client.post(address("auth_group_delete", group.pk), {"post": "yes"}).status_code == 403
    assert not group.permissions.exists()
    assert Group.objects.filter(pk=group.pk).exists()


def test_an_operator_suspends_nobody_above_them() -> None:
    client = clerk("view_account", "change_account")
    boss = Account.objects.create_superuser("did:web:localhost:boss", None, "x")
    assert decide(client, "suspend", boss, reason="r").status_code == 403
    assert Account.objects.get(pk=boss.pk).suspended_at is None
    Account.objects.filter(pk=boss.pk).update(suspended_at=timezone.now())
    assert decide(client, "unsuspend", boss, reason="r").status_code == 403
    assert Account.objects.get(pk=boss.pk).suspended_at is not None


def test_a_device_is_revoked(operator: Client) -> None:
    session = make_session()
    act(operator, "accounts_devicesession_changelist", "revoke", session.pk)
    assert DeviceSession.objects.get().revoked_at is not None
    assert logged() == [(CHANGE, "Revoked: stolen")]


def test_signing_keys_are_rotated(operator: Client) -> None:
    first = signing_keys.ensure_active_key(now=timezone.now())
    rotate = f"{address('accounts_signingkey_changelist')}rotate/"
    operator.get(rotate)
    assert SigningKey.objects.get(state="active") == first

    answer = operator.post(rotate, {"_form_submitted": "on", "reason": "yearly"})

    assert answer["HX-Redirect"] == address("accounts_signingkey_changelist")
    assert SigningKey.objects.get(pk=first.pk).state == "passive"
    assert SigningKey.objects.filter(state="active").count() == 1
    assert logged() == [(CHANGE, "Rotated, this key now signs: yearly")]
    assert clerk("view_signingkey").post(rotate, {"_form_submitted": "on", "reason": "yearly"}).status_code == 403


def test_receipt_keys_are_rotated(operator: Client) -> None:
    first = receipt_keys.ensure_active_key(now=timezone.now())
    rotate = f"{address('accounts_receiptkey_changelist')}rotate/"

    answer = operator.post(rotate, {"_form_submitted": "on", "reason": "yearly"})

    assert answer["HX-Redirect"] == address("accounts_receiptkey_changelist")
    assert ReceiptKey.objects.get(pk=first.pk).state == "retired"
    assert ReceiptKey.objects.filter(state="active").count() == 1
    assert logged() == [(CHANGE, "Rotated, this key now signs: yearly")]
    assert clerk("view_receiptkey").post(rotate, {"_form_submitted": "on", "reason": "yearly"}).status_code == 403
