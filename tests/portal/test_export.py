"""The export of all data of a person: what is in it, who gets it, and how much of it is in memory."""

import csv
import io
import json
import re
from collections.abc import Iterator
from datetime import timedelta
from random import Random
from typing import Any, cast
from zipfile import ZipFile

import pytest
from allauth.account.models import EmailAddress
from allauth.mfa.models import Authenticator
from asgiref.sync import async_to_sync
from django.contrib.admin.models import LogEntry
from django.test import Client
from django.utils import timezone
from pytest_django import Settings

from accounts.models import Account, DeviceSession, Limit
from accounts.operations import consents
from billing.operations import own_budgets
from gateway.core.portal.zip_files import PIECE_BYTES, ArchivedFile, zip_pieces
from inference.models import StoredResponse
from organizations.models import Membership
from organizations.operations import invitations, members
from organizations.rules.roles import Role
from tests.factories.billing import Purse, settle
from tests.factories.organizations import Team
from tests.factories.payments import top_up
from tests.portal.test_pages import PASSWORD, device_of, sign_up

pytestmark = pytest.mark.django_db

PATH = "/account/data/"
SECRETS = ("pbkdf2", "argon2", "password", "credential", "secret")


@pytest.fixture
def alice() -> Client:
    """Alice's browser. She has just signed up, so she is not asked who she is again."""
    client = Client()
    sign_up(client)
    return client


@pytest.fixture
def who(alice: Client) -> Account:
    return Account.objects.get()


def archive_of(answer: Any) -> dict[str, str]:
    """Read an export: the text of each file by its name."""

    async def body() -> bytes:
        return b"".join([piece async for piece in cast("Any", answer.streaming_content)])

    assert (answer.status_code, answer["Content-Type"]) == (200, "application/zip")
    assert re.fullmatch(r'attachment; filename="account-\d{4}-\d\d-\d\d\.zip"', answer["Content-Disposition"])
    assert "no-store" in answer["Cache-Control"]
    with ZipFile(io.BytesIO(async_to_sync(body)())) as archive:
        assert archive.testzip() is None
        return {name: archive.read(name).decode() for name in archive.namelist()}


def table(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text, newline="")))


def everything_of(who: Account) -> dict[str, str]:
    """Give a person one thing of each kind; return their ids."""
    now = timezone.now()
    purse = Purse("account", who.did).pay(5_000_000)
    settle(call := purse.call(100_000, client_id="https://app.example"), 70_000)
    passkey = {"name": "Laptop key", "credential": {"secret": "x"}}
    Authenticator.objects.create(user=who, type="webauthn", data=passkey)
    EmailAddress.objects.get_or_create(user=who, email="other@example.com")
    device = device_of(who, "=Phone()")
    DeviceSession.objects.filter(pk=device.pk).update(jkt="j" * 43, scopes=["wallet:read", "infer:fast"])
    consents.give(account=who, client_id="https://app.example", kind="realtime", now=now)
    budget = own_budgets.put_monthly(did=who.did, client_id="https://app.example", limit_microusd=5).pk
    StoredResponse.objects.create(
        id=f"resp_{who.pk}",
        owner_kind="account",
        owner_key=who.did,
        usage_id=call,
        status="completed",
        response='{"output": "Grüße"}',
        input_items='[{"role": "user"}]',
        created_at=now,
        expires_at=now + timedelta(days=30),
    )
    paid = top_up(("account", who.did), 2_000_000).pk
    return {"call": call, "credit": purse.grant(300), "device": device.pk, "budget": budget, "payment": paid}


def test_has_everything_and_no_secret(alice: Client, who: Account) -> None:
    Account.objects.filter(pk=who.pk).update(display_name="Alice <A>")
    ids = everything_of(who)
    files = archive_of(alice.post(PATH))
    assert list(files)[:2] == ["README.txt", "account.json"]
    account = json.loads(files["account.json"])
    assert (account["did"], account["displayName"], account["email"]) == (who.did, "Alice <A>", "alice@example.com")
    assert [row["email"] for row in table(files["email_addresses.csv"])] == ["alice@example.com", "other@example.com"]
    assert [row["name"] for row in table(files["sign_in_methods.csv"])] == ["Laptop key"]
    [device] = table(files["devices.csv"])
    assert (device["id"], device["name"], device["key_thumbprint"]) == (ids["device"], "'=Phone()", "j" * 43)
    assert device["scopes"] == "wallet:read infer:fast"
    assert [row["app"] for row in table(files["consents.csv"])] == ["https://app.example"]
    assert [row["ip"] for row in table(files["browsers.csv"])] == ["127.0.0.1"]
    assert table(files["wallet.csv"])[0]["balance_microusd"] == "6930000"
    assert ids["payment"] in [row["transaction_id"] for row in table(files["payments.csv"])]
    assert ids["credit"] in [row["credit_id"] for row in table(files["credits.csv"])]
    assert [row["budget_id"] for row in table(files["budgets.csv"])] == [ids["budget"]]
    [call] = table(files["calls.csv"])
    assert (call["usage_id"], call["charged_microusd"], call["status"]) == (ids["call"], "70000", "settled")
    [response] = files["stored_responses.jsonl"].splitlines()
    assert json.loads(response)["response"] == {"output": "Grüße"}
    assert all(f"{name}: " in files["README.txt"] for name in files if name != "README.txt")
    whole = "".join(text for name, text in files.items() if name != "README.txt").lower()
    assert [secret for secret in SECRETS if secret in whole] == []


def test_has_nothing_of_anybody_else(alice: Client, who: Account) -> None:
    bob = Account.objects.create_user("did:web:gateway.example:accounts:acc_bob", "bob@example.com")
    ids = everything_of(bob)
    files = archive_of(alice.post(PATH))
    whole = "".join(files.values())
    assert [one for one in (*ids.values(), bob.did, "bob@example.com", "Grüße") if one in whole] == []
    assert {name: len(table(text)) for name, text in files.items() if name.endswith(".csv")} == {
        **dict.fromkeys([name for name in files if name.endswith(".csv")], 0),
        "email_addresses.csv": 1,
        "browsers.csv": 1,
        "wallet.csv": 1,
    }


def test_memberships_are_listed_and_left_ones_are_not_named(alice: Client, who: Account) -> None:
    team, left = Team("founder"), Team("other")
    joined = [joins(each, who) for each in (team, left)]
    members.remove(org_id=left.id, membership_id=joined[1].pk, actor_did=left.owner.did)
    rows = table(archive_of(alice.post(PATH))["memberships.csv"])
    assert [(row["org_id"], row["organization"] != "", row["removed_at"] == "") for row in rows] == [
        (team.id, True, True),
        (left.id, False, False),
    ]


def joins(team: Team, who: Account) -> Membership:
    _, token = invitations.invite(org_id=team.id, role=Role.MEMBER, email=None, actor_did=team.owner.did)
    return invitations.accept(token=token, account=who)


def test_is_in_the_log(alice: Client, who: Account) -> None:
    alice.get(PATH)
    assert not LogEntry.objects.exists()
    alice.post(PATH)
    [entry] = LogEntry.objects.all()
    assert (entry.user_id, entry.object_id, entry.object_repr) == (who.pk, str(who.pk), who.did)
    assert entry.change_message == "Downloaded an export of all data of the account."


def test_too_many_are_refused(alice: Client, settings: Settings) -> None:
    settings.EXPORTS_PER_ACCOUNT_HOUR = 1
    assert alice.post(PATH).status_code == 200
    refused = alice.post(PATH)
    assert (refused.status_code, 1 <= int(refused["Retry-After"]) <= 3600) == (429, True)
    assert LogEntry.objects.count() == 1
    Limit.objects.update(ends_at=timezone.now())
    assert alice.post(PATH).status_code == 200


def test_a_stranger_signs_in_and_a_person_confirms_who_they_are(who: Account) -> None:
    for method in ("get", "post"):
        assert getattr(Client(), method)(PATH)["Location"] == f"/account/login/?next={PATH}"
    client = Client()
    client.force_login(who, backend="django.contrib.auth.backends.ModelBackend")
    assert client.get(PATH).status_code == 200
    asked = client.post(PATH)
    assert asked["Location"].startswith("/account/reauthenticate/")
    assert not LogEntry.objects.exists()
    assert client.post(asked["Location"], {"password": "wrong"}).status_code == 200
    assert not LogEntry.objects.exists()
    assert "account.json" in archive_of(client.post(asked["Location"], {"password": PASSWORD}))


def test_needs_a_csrf_token(who: Account) -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(who, backend="django.contrib.auth.backends.ModelBackend")
    assert client.post(PATH).status_code == 403


def test_only_a_piece_is_in_memory() -> None:
    made = 0

    def pieces() -> Iterator[str]:
        nonlocal made
        random = Random(7)
        for _ in range(200):
            made += 1
            yield random.randbytes(10_000).hex()

    sent = zip_pieces([ArchivedFile("long.txt", pieces())])
    first = next(sent)
    assert PIECE_BYTES <= len(first) < 3 * PIECE_BYTES
    assert made < 50
    whole = first + b"".join(sent)
    with ZipFile(io.BytesIO(whole)) as archive:
        assert len(archive.read("long.txt")) == 200 * 20_000
