"""Authorization codes and device sessions: single use, rotation, reuse, and stolen credentials."""

from collections.abc import Callable
from datetime import datetime, timedelta
from functools import partial
from typing import Any

import pytest
from django.conf import settings
from django.db import transaction
from django.utils import timezone

from accounts.models import AuthorizationCode, AuthorizationRequest, DeviceSession
from accounts.operations import codes, devices
from accounts.operations.codes import Redemption
from accounts.operations.devices import Grant
from accounts.operations.keyring import keyring
from accounts.rules import pkce, refresh
from gateway.core.contract.errors import InvalidGrant, InvalidScope
from tests.factories.accounts import make_account
from tests.factories.organizations import account
from tests.support.concurrency import at_once, count

pytestmark = pytest.mark.django_db

APP = "https://app.example"
VERIFIER = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"
JKT, OTHER_JKT = "k" * 43, "o" * 43
SCOPES = ["wallet:read", "usage:read"]


@pytest.fixture(autouse=True)
def fresh_keys() -> None:
    keyring.forget()


@pytest.fixture
def now() -> datetime:
    return timezone.now()


def issue(now: datetime, name: str = "alice", dpop_jkt: str | None = None) -> str:
    request = AuthorizationRequest(
        client_id=APP,
        redirect_uri=f"{APP}/cb",
        code_challenge=pkce.challenge_of(VERIFIER),
        dpop_jkt=dpop_jkt,
    )
    code = codes.issue(request, account=make_account(name), scopes=SCOPES, consents=[], now=now)
    assert code
    return code


def redeem(code: str, now: datetime, **changes: Any) -> Grant:
    brought: dict[str, Any] = {
        "code": code,
        "verifier": VERIFIER,
        "client_id": APP,
        "redirect_uri": f"{APP}/cb",
        "jkt": JKT,
        "device_name": "Laptop",
    }
    return codes.redeem(Redemption(**{**brought, **changes}), now=now)


def refused(call: Callable[..., Any], *args: Any, **kwargs: Any) -> None:
    with pytest.raises(InvalidGrant):
        call(*args, **kwargs)


def rotate(refresh_token: str | None, now: datetime, jkt: str = JKT, scopes: list[str] | None = None) -> Grant:
    return devices.rotate(refresh_token=refresh_token, jkt=jkt, scopes=scopes, now=now)


def test_a_code_gives_a_token_and_a_device_session(now: datetime) -> None:
    grant = redeem(issue(now), now)
    assert grant.token.principal.session_id == grant.session.pk
    assert grant.token.principal.jkt == JKT
    assert grant.token.expires_in == 300
    assert grant.refresh_token
    assert grant.session.expires_at - now == timedelta(days=30)
    assert grant.refresh_token not in str(list(DeviceSession.objects.values()))


def test_without_a_device_there_is_no_refresh(now: datetime) -> None:
    grant = redeem(issue(now), now, device_name=None)
    assert grant.refresh_token is None
    assert not grant.session.persistent


def open_device(number: int, name: str, now: datetime) -> DeviceSession:
    return devices.open_session(
        account=account(name),
        client_id=APP,
        scopes=SCOPES,
        consents=[],
        jkt=JKT,
        device_name=f"Device {number}",
        now=now + timedelta(seconds=number),
    ).session


@pytest.fixture
def three_at_most(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(devices, "DEVICE_SESSIONS_MAX", 3)


def live_names(name: str = "alice") -> list[str]:
    live = DeviceSession.objects.filter(account=account(name), revoked_at__isnull=True)
    return list(live.order_by("created_at").values_list("name", flat=True))


@pytest.mark.usefixtures("three_at_most")
def test_one_device_too_many_ends_the_oldest_of_that_account(now: datetime) -> None:
    open_device(0, "bob", now)
    alice = [open_device(number, "alice", now) for number in range(5)]
    assert live_names() == ["Device 2", "Device 3", "Device 4"]
    assert live_names("bob") == ["Device 0"]
    alice[0].refresh_from_db()
    assert alice[0].revoked_at == now + timedelta(seconds=3)


@pytest.mark.usefixtures("three_at_most")
def test_a_device_that_is_used_outlives_newer_ones_that_are_not(now: datetime) -> None:
    first = open_device(0, "alice", now)
    for number in (1, 2):
        open_device(number, "alice", now)
    credential = refresh.make(first.pk, first.generation, [settings.SECRET_KEY])
    devices.rotate(refresh_token=credential, jkt=JKT, scopes=None, now=now + timedelta(seconds=3))
    open_device(4, "alice", now)
    assert live_names() == ["Device 0", "Device 2", "Device 4"]


def test_an_account_has_fifty_devices(now: datetime) -> None:
    for number in range(55):
        open_device(number, "alice", now)
    assert live_names() == [f"Device {number}" for number in range(5, 55)]


@pytest.mark.usefixtures("three_at_most")
def test_a_token_without_a_device_takes_no_device_s_place(now: datetime) -> None:
    redeem(issue(now), now, device_name=None)
    for number in range(3):
        open_device(number, "alice", now)
    assert sorted(live_names()) == ["", "Device 0", "Device 1", "Device 2"]


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("three_at_most")
def test_devices_that_sign_in_at_once_stay_within_the_number(now: datetime) -> None:
    account("alice")
    calls = [partial(transaction.atomic(open_device), number, "alice", timezone.now()) for number in range(8)]
    at_once(*calls)
    assert len(live_names()) == 3


def test_ended_sessions_are_purged_after_a_day(now: datetime) -> None:
    revoked, expired, live = (open_device(number, "alice", now).pk for number in range(3))
    DeviceSession.objects.filter(pk=revoked).update(revoked_at=now)
    DeviceSession.objects.filter(pk=expired).update(expires_at=now)
    assert devices.purge_ended(now=now + timedelta(days=1)) == 0
    assert devices.purge_ended(now=now + timedelta(days=1, seconds=1)) == 2
    assert DeviceSession.objects.get().pk == live


def test_a_code_is_nowhere_in_the_database(now: datetime) -> None:
    code = issue(now)
    assert code not in str(list(AuthorizationCode.objects.values()))


def test_a_wrong_verifier_burns_the_code(now: datetime) -> None:
    code = issue(now)
    refused(redeem, code, now, verifier="x" * 43)
    refused(redeem, code, now)


@pytest.mark.parametrize(
    "changes",
    [{"client_id": "https://evil.example"}, {"redirect_uri": f"{APP}/other"}, {"code": "no-such-code"}],
    ids=["client", "redirect", "code"],
)
def test_a_stranger_gets_nothing(changes: dict[str, Any], now: datetime) -> None:
    code = issue(now)
    refused(redeem, **{"code": code, "now": now, **changes})
    assert redeem(code, now)


def test_a_code_expires_after_sixty_seconds(now: datetime) -> None:
    code = issue(now)
    refused(redeem, code, now + timedelta(seconds=60))


def test_a_code_bound_to_a_key_serves_no_other(now: datetime) -> None:
    code = issue(now, dpop_jkt=JKT)
    refused(redeem, code, now, jkt=OTHER_JKT)
    assert redeem(code, now)


def test_a_reused_code_revokes_the_grant_of_its_first_use(now: datetime) -> None:
    code = issue(now)
    first = redeem(code, now)
    refused(redeem, code, now)
    first.session.refresh_from_db()
    assert first.session.revoked_at is not None
    refused(rotate, first.refresh_token, now)


def test_rotation_gives_a_successor_and_spends_the_old(now: datetime) -> None:
    first = redeem(issue(now), now)
    second = rotate(first.refresh_token, now)
    assert second.refresh_token != first.refresh_token
    third = rotate(second.refresh_token, now)
    assert third.session.generation == 3


def test_a_lost_response_does_not_end_the_session(now: datetime) -> None:
    first = redeem(issue(now), now)
    second = rotate(first.refresh_token, now)
    again = rotate(first.refresh_token, now + timedelta(seconds=9))
    assert again.refresh_token == second.refresh_token


def test_reuse_after_the_retry_window_revokes_the_session(now: datetime) -> None:
    first = redeem(issue(now), now)
    second = rotate(first.refresh_token, now)
    refused(rotate, first.refresh_token, now + timedelta(seconds=10))
    refused(rotate, second.refresh_token, now + timedelta(seconds=11))


def test_reuse_of_the_last_but_one_revokes_at_once(now: datetime) -> None:
    first = redeem(issue(now), now)
    second = rotate(first.refresh_token, now)
    third = rotate(second.refresh_token, now)
    refused(rotate, first.refresh_token, now)
    refused(rotate, third.refresh_token, now)


def test_another_key_neither_consumes_nor_kills(now: datetime) -> None:
    first = redeem(issue(now), now)
    second = rotate(first.refresh_token, now)
    refused(rotate, second.refresh_token, now, OTHER_JKT)
    refused(rotate, first.refresh_token, now + timedelta(minutes=1), OTHER_JKT)
    assert rotate(second.refresh_token, now + timedelta(minutes=1))


def test_a_narrower_scope_narrows_only_the_token(now: datetime) -> None:
    first = redeem(issue(now), now)
    second = rotate(first.refresh_token, now, scopes=["wallet:read"])
    assert second.token.scope == "wallet:read"
    third = rotate(second.refresh_token, now)
    assert third.token.scope == "usage:read wallet:read"


def test_a_wider_scope_changes_nothing(now: datetime) -> None:
    first = redeem(issue(now), now)
    with pytest.raises(InvalidScope):
        rotate(first.refresh_token, now, scopes=["wallet:read", "orgs:read"])
    assert rotate(first.refresh_token, now)


def test_thirty_days_do_not_slide(now: datetime) -> None:
    first = redeem(issue(now), now)
    late = now + timedelta(days=30) - timedelta(seconds=100)
    second = rotate(first.refresh_token, late)
    assert second.token.expires_in == 100
    refused(rotate, second.refresh_token, now + timedelta(days=30))


def test_revoking_ends_the_session_only_for_its_own_key(now: datetime) -> None:
    first = redeem(issue(now), now)
    devices.revoke_credential(refresh_token=first.refresh_token, jkt=OTHER_JKT, now=now)
    second = rotate(first.refresh_token, now)
    devices.revoke_credential(refresh_token=first.refresh_token, jkt=JKT, now=now)
    refused(rotate, second.refresh_token, now)
    devices.revoke_credential(refresh_token="nonsense", jkt=JKT, now=now)


def test_a_suspended_account_refreshes_nothing(now: datetime) -> None:
    first = redeem(issue(now), now)
    first.session.account.suspended_at = now
    first.session.account.save()
    refused(rotate, first.refresh_token, now)


def test_a_person_revokes_only_their_own(now: datetime) -> None:
    grant = redeem(issue(now), now)
    assert not devices.revoke(account=make_account("mallory"), session_id=grant.session.pk, now=now)
    assert devices.revoke(account=grant.session.account, session_id=grant.session.pk, now=now)


@pytest.mark.django_db(transaction=True)
def test_sixteen_refreshes_at_once_leave_one_live_credential(now: datetime) -> None:
    current = redeem(issue(now), now).refresh_token
    for generation in range(2, 62):
        granted = at_once(*[partial(rotate, current, timezone.now())] * 16)
        successors = {grant.refresh_token for grant in granted}
        assert len(successors) == 1
        assert DeviceSession.objects.get(persistent=True).generation == generation
        (current,) = successors


@pytest.mark.django_db(transaction=True)
def test_sixteen_redemptions_at_once_leave_nothing_alive(now: datetime) -> None:
    code = issue(now)
    results = at_once(*[lambda: redeem(code, timezone.now())] * 16)
    assert count(results, "invalid_grant") == 15
    assert not DeviceSession.objects.filter(revoked_at__isnull=True).exists()
