"""Device sessions and suspensions: each is recorded once, whatever ends a session."""

import threading
from collections.abc import Callable
from datetime import datetime, timedelta
from functools import partial
from typing import Any

import pytest
from django.db import transaction
from django.utils import timezone

from accounts.models import Account, DeviceSession
from accounts.operations import apps, closing, devices, operators, suspension
from accounts.operations.keyring import keyring
from gateway.core.contract.errors import InvalidGrant
from gateway.core.contract.limits import DEVICE_SESSIONS_MAX
from gateway.core.events.models import Event
from gateway.core.events.operations.in_order import Happened, record
from tests.accounts.test_devices import APP, JKT, SCOPES, issue, redeem
from tests.factories.accounts import make_account
from tests.factories.events import recorded, types
from tests.support.concurrency import PATIENCE_SECONDS, at_once, eventually
from tests.support.database import connect

pytestmark = pytest.mark.django_db

WAITING = "SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
OPENED: dict[str, Any] = {"client_id": APP, "scopes": SCOPES, "consents": [], "jkt": JKT}


@pytest.fixture(autouse=True)
def fresh_keys() -> None:
    keyring.forget()


@pytest.fixture
def now() -> datetime:
    return timezone.now()


@pytest.fixture
def alice() -> Account:
    return make_account("alice")


def session(who: Account, now: datetime, **fields: Any) -> DeviceSession:
    made: dict[str, Any] = {"persistent": True, "expires_at": now + timedelta(days=1), **fields}
    return DeviceSession.objects.create(account=who, client_id=APP, created_at=now, jkt=JKT, **made)


def revoked(who: Account, one: DeviceSession) -> tuple[str, dict[str, Any]]:
    return "device_session.revoked", {"did": who.did, "deviceSessionId": one.pk}


def test_a_new_device_session_is_recorded_and_a_single_token_is_not(now: datetime) -> None:
    devices.open_session(account=make_account("bob"), device_name=None, **OPENED, now=now)
    grant = redeem(issue(now), now, device_name="Laptop")
    [event] = Event.objects.all()
    assert (event.owner_kind, event.owner_key, event.type) == (
        "account",
        grant.session.account.did,
        "device_session.created",
    )
    assert event.data == {
        "did": grant.session.account.did,
        "deviceSessionId": grant.session.pk,
        "clientId": APP,
        "name": "Laptop",
    }


def end_one(who: Account, one: DeviceSession, now: datetime) -> None:
    assert devices.revoke(account=who, session_id=one.pk, now=now)


def end_all(who: Account, one: DeviceSession, now: datetime) -> None:
    assert devices.revoke_all(account=who, now=now)


def end_app(who: Account, one: DeviceSession, now: datetime) -> None:
    assert apps.revoke(account=who, client_id=APP, now=now)


def suspend(who: Account, one: DeviceSession, now: datetime) -> None:
    assert suspension.suspend(account=who, now=now)


def close(who: Account, one: DeviceSession, now: datetime) -> None:
    assert closing.close(account=who, now=now)


End = Callable[[Account, DeviceSession, datetime], None]


@pytest.mark.parametrize("end", [end_one, end_all, end_app, suspend, close])
def test_whatever_ends_a_session_is_recorded(alice: Account, now: datetime, end: End) -> None:
    one = session(alice, now)
    end(alice, one, now)
    assert [each for each in recorded(alice.did) if each[0] == "device_session.revoked"] == [revoked(alice, one)]


@pytest.mark.parametrize("end", [end_one, end_all, end_app])
def test_a_session_that_has_ended_or_is_a_single_token_is_not_mentioned(
    alice: Account, now: datetime, end: End
) -> None:
    session(make_account("bob"), now)
    one = session(alice, now, persistent=False)
    session(alice, now, revoked_at=now)
    session(alice, now, expires_at=now)
    end(alice, one, now)
    assert recorded(alice.did) == []


def test_the_credential_itself_ends_its_session(now: datetime) -> None:
    grant = redeem(issue(now), now, device_name="Laptop")
    for _ in range(2):
        devices.revoke_credential(refresh_token=grant.refresh_token, jkt=JKT, now=now)
    who = grant.session.account
    assert recorded(who.did)[1:] == [revoked(who, grant.session)]


def test_a_stolen_credential_ends_its_session(now: datetime) -> None:
    grant = redeem(issue(now), now, device_name="Laptop")
    devices.rotate(refresh_token=grant.refresh_token, jkt=JKT, scopes=SCOPES, now=now)
    later = now + timedelta(minutes=1)
    for _ in range(2):
        with pytest.raises(InvalidGrant):
            devices.rotate(refresh_token=grant.refresh_token, jkt=JKT, scopes=SCOPES, now=later)
    who = grant.session.account
    assert recorded(who.did)[1:] == [revoked(who, grant.session)]


def test_a_code_that_is_used_twice_ends_its_session(now: datetime) -> None:
    code = issue(now)
    grant = redeem(code, now, device_name="Laptop")
    for _ in range(2):
        with pytest.raises(InvalidGrant):
            redeem(code, now, device_name="Laptop")
    who = grant.session.account
    assert recorded(who.did)[1:] == [revoked(who, grant.session)]


def test_the_session_that_makes_room_for_another_is_recorded(alice: Account, now: datetime) -> None:
    idle = session(alice, now, last_used_at=now - timedelta(days=1))
    for _ in range(DEVICE_SESSIONS_MAX - 1):
        session(alice, now, last_used_at=now)
    devices.open_session(account=alice, device_name="Laptop", **OPENED, now=now)
    assert [type_ for type_, _ in recorded(alice.did)] == ["device_session.revoked", "device_session.created"]
    assert recorded(alice.did)[0] == revoked(alice, idle)


def test_a_suspension_is_recorded_once(alice: Account, now: datetime) -> None:
    for _ in range(2):
        suspension.suspend(account=alice, now=now)
    assert recorded(alice.did) == [("account.suspended", {"did": alice.did})]


@pytest.mark.django_db(transaction=True)
def test_two_who_end_a_session_at_once_record_it_once(alice: Account, now: datetime) -> None:
    one = session(alice, now)
    at_once(
        *[partial(devices.revoke, account=alice, session_id=one.pk, now=now)] * 3,
        *[partial(devices.revoke_all, account=alice, now=now)] * 3,
    )
    assert recorded(alice.did) == [revoked(alice, one)]


@pytest.mark.django_db(transaction=True)
def test_who_becomes_an_operator_while_they_sign_in_waits_before_anything_is_recorded(
    alice: Account, now: datetime
) -> None:
    """A sign-in locks the account, and the counter of its events after it."""
    session(alice, now)
    is_held = threading.Event()

    def sign_in() -> None:
        with transaction.atomic():
            Account.objects.select_for_update(no_key=True).get(pk=alice.pk)
            is_held.set()
            eventually(_somebody_waits)
            record([Happened("account", alice.did, "device_session.created", {"did": alice.did}, now=now)])

    def promote() -> list[str]:
        is_held.wait(PATIENCE_SECONDS)
        return operators.promote(alice, "a new password", now=now)

    assert at_once(sign_in, promote)[1] == ["given every right", "given the new password and signed out everywhere"]
    assert types(alice.did) == ["device_session.created", "device_session.revoked"]


def _somebody_waits() -> bool:
    with connect(autocommit=True) as watcher:  # in a transaction, it would see the same again and again
        return bool(watcher.execute(WAITING).fetchall())
