"""Device sessions: open, refresh by rotation, revoke. SPEC: Scopes and device sessions; RFC 9700 section 4.14."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.conf import settings
from django.db.models import F
from django.db.models.query import QuerySet

from accounts.models import Account, DeviceSession
from accounts.operations import closing, public_clients, public_scopes, session_ends, tokens
from accounts.operations.tokens import MintedToken
from accounts.rules import refresh
from accounts.rules.refresh import Credential
from gateway.core.contract.errors import InvalidGrant, InvalidScope
from gateway.core.contract.limits import (
    ACCESS_TOKEN_SECONDS,
    DEVICE_SESSION_DAYS,
    DEVICE_SESSIONS_MAX,
    REFRESH_RETRY_SECONDS,
)
from gateway.core.database.purge import purge
from gateway.core.events.operations.in_order import Happened, record

LIFETIME = timedelta(days=DEVICE_SESSION_DAYS)
RETRY = timedelta(seconds=REFRESH_RETRY_SECONDS)
ENDED_RETENTION = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Grant:
    """An access token and, for a device session, its refresh credential."""

    token: MintedToken
    session: DeviceSession
    refresh_token: str | None


def open_session(
    *,
    account: Account,
    client_id: str,
    scopes: Sequence[str],
    consents: Sequence[str],
    jkt: str,
    device_name: str | None,
    now: datetime,
) -> Grant:
    """Open a session for one key of one client. With a name (which may be empty) it is a device session of 30 days.

    If the account has the maximum number of devices, the session that was not used for longest ends. Joins the caller's transaction.
    """
    if not closing.stays_open(account):
        raise InvalidGrant(private="the account is closed")
    persistent = device_name is not None
    if persistent:
        _end_least_recent(account, now)
    lifetime = LIFETIME if persistent else timedelta(seconds=ACCESS_TOKEN_SECONDS)
    session = DeviceSession.objects.create(
        account=account,
        client_id=client_id,
        name=device_name or "",
        persistent=persistent,
        jkt=jkt,
        scopes=list(scopes),
        consents=list(consents),
        created_at=now,
        expires_at=now + lifetime,
        last_used_at=now,
    )
    if persistent:
        _record_opening(session)
    return _grant(session, session.scopes, now)


def rotate(*, refresh_token: object, jkt: str, scopes: Sequence[str] | None, now: datetime) -> Grant:
    """Rotate a credential. Of several concurrent requests exactly one succeeds, by a compare-and-swap on generation and
    key.

    If the same key retries the previous credential within 10 seconds, it gets the same successor again. Any other use
    of an old credential revokes the session. Raises InvalidGrant (nothing else changed), or InvalidScope or
    InvalidClient (nothing changed).
    """
    credential = refresh.read(refresh_token, _secrets())
    session = _live(now).filter(pk=credential.session_id).first() if credential else None
    if credential is None or session is None or session.jkt != jkt:
        raise InvalidGrant(private="no live session of this key has this credential")
    public_clients.check_enabled(session.client_id)
    narrowed = _narrow(session, scopes)
    if not _compare_and_swap(credential, jkt, now) and not _is_retry(credential, now):
        _revoke(DeviceSession.objects.filter(pk=session.pk, generation__gt=credential.generation), now)
        raise InvalidGrant(private="a rotated credential was used again; its session is revoked")
    session.generation = credential.generation + 1
    return _grant(session, narrowed, now)


def revoke_credential(*, refresh_token: object, jkt: str, now: datetime) -> None:
    """End the session of a credential of any generation, if the request is signed with the session's key. Otherwise
    change nothing.
    """
    credential = refresh.read(refresh_token, _secrets())
    if credential:
        _revoke(DeviceSession.objects.filter(pk=credential.session_id, jkt=jkt), now)


def revoke(*, account: Account, session_id: str, now: datetime) -> bool:
    """End one of a person's own sessions; return False if it is not theirs or has ended."""
    return _revoke(account.device_sessions.filter(pk=session_id), now)


def revoke_all(*, account: Account, now: datetime) -> bool:
    """End all of a person's device sessions, as after a password change or a suspension."""
    return _revoke(account.device_sessions.all(), now)


def purge_ended(*, now: datetime) -> int:
    """Delete sessions that ended a day ago or earlier; return how many.

    A revoked session is stored that long because calls in progress check it.
    """
    expired = DeviceSession.objects.filter(expires_at__lt=now - ENDED_RETENTION)
    revoked = DeviceSession.objects.filter(revoked_at__lt=now - ENDED_RETENTION)
    return purge(expired.order_by("expires_at")) + purge(revoked.order_by("revoked_at"))


def _end_least_recent(account: Account, now: datetime) -> None:
    """End the account's least recently used device sessions if a new one would exceed the limit. A lock on the
    account's row protects the count.
    """
    Account.objects.select_for_update(no_key=True).get(pk=account.pk)
    live = _live(now).filter(account=account).order_by(F("last_used_at").desc(nulls_last=True), "-pk")
    beyond = list(live.values_list("pk", flat=True)[DEVICE_SESSIONS_MAX - 1 :])
    if beyond:
        _revoke(DeviceSession.objects.filter(pk__in=beyond), now)


def _record_opening(session: DeviceSession) -> None:
    did = session.account.did
    data = {"did": did, "deviceSessionId": session.pk, "clientId": session.client_id, "name": session.name}
    record([Happened("account", did, "device_session.created", data, now=session.created_at)])


def _grant(session: DeviceSession, scopes: Iterable[str], now: datetime) -> Grant:
    token = tokens.mint(
        did=session.account.did,
        client_id=session.client_id,
        scopes=scopes,
        jkt=session.jkt,
        session_id=session.pk,
        consents=session.consents,
        expires_at=int(session.expires_at.timestamp()),
        now=now,
    )
    credential = refresh.make(session.pk, session.generation, _secrets()) if session.persistent else None
    return Grant(token, session, credential)


def _live(now: datetime) -> QuerySet[DeviceSession]:
    return DeviceSession.objects.select_related("account").filter(
        persistent=True,
        revoked_at__isnull=True,
        expires_at__gt=now,
        account__is_active=True,
        account__suspended_at__isnull=True,
    )


def _narrow(session: DeviceSession, scopes: Sequence[str] | None) -> Sequence[str]:
    """Omit the scopes of aliases that have been disabled since; refuse them if they are requested explicitly."""
    live = public_scopes.grantable().intersection(session.scopes)
    if scopes is None:
        return sorted(live)
    if beyond := [scope for scope in scopes if scope not in live]:
        raise InvalidScope(f"The scope {beyond[0]} cannot be granted.", param="scope")
    return scopes


def _compare_and_swap(credential: Credential, jkt: str, now: datetime) -> bool:
    current = DeviceSession.objects.filter(
        pk=credential.session_id, generation=credential.generation, jkt=jkt, revoked_at__isnull=True, expires_at__gt=now
    )
    return bool(current.update(generation=F("generation") + 1, rotated_at=now, last_used_at=now))


def _is_retry(credential: Credential, now: datetime) -> bool:
    return DeviceSession.objects.filter(
        pk=credential.session_id,
        generation=credential.generation + 1,
        rotated_at__gt=now - RETRY,
        revoked_at__isnull=True,
    ).exists()


def _revoke(sessions: QuerySet[DeviceSession], now: datetime) -> bool:
    return bool(session_ends.end(sessions, now))


def _secrets() -> list[str]:
    return [settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS]
