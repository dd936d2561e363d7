"""Manages the life cycle of the gateway's signing keys: pending, active, passive, retired.

A key is published while it is pending, so that every process and cache has it before it signs its first token. A
passive key is published until the last of its tokens has expired.
"""

from datetime import datetime, timedelta

from django.db import connection, transaction

from accounts.models import SigningKey
from accounts.rules import key_pairs
from gateway.core.contract.limits import ACCESS_TOKEN_SECONDS

State = SigningKey.State

# A slow clock may accept a token a little after its expiry, and so may a cache.
PASSIVE_PERIOD = timedelta(seconds=2 * ACCESS_TOKEN_SECONDS)
PUBLISHED = (State.PENDING, State.ACTIVE, State.PASSIVE)


def ensure_active_key(*, now: datetime) -> SigningKey:
    """Return the active key. At the first start, create it and its successor. Safe in any number of processes."""
    return _active() or _start(now)


@transaction.atomic
def rotate(*, now: datetime) -> SigningKey:
    """Make the pending key the active one and publish its successor; return the active key."""
    _lock()
    return _rotate(now)


@transaction.atomic
def rotate_if_due(*, now: datetime, signing_since: datetime, published_before: datetime) -> SigningKey:
    """Rotate if the active key has been signing since before `signing_since`; return the active key.

    If the pending key was published after `published_before`, nothing changes.
    """
    _lock()
    active = _active()
    if active is None:
        return _rotate(now)
    pending = _pending()
    too_young = pending is not None and pending.created_at > published_before
    if too_young or (active.activated_at or now) > signing_since:
        return active
    return _rotate(now)


@transaction.atomic
def retire(kid: str, *, now: datetime) -> SigningKey:
    """Stop accepting a leaked key at once. Raises SigningKey.DoesNotExist if it is not in use.

    If the key is active or pending, it is replaced in the same transaction.
    """
    _lock()
    key = SigningKey.objects.get(kid=kid, state__in=PUBLISHED)
    state = key.state
    _retire(key, now)
    if state == State.PENDING:
        _create_pending(now)
    elif state == State.ACTIVE:
        _rotate(now)
    return key


def retire_expired(*, now: datetime) -> int:
    """Retire passive keys whose last token has expired; return how many."""
    passive = SigningKey.objects.filter(state=State.PASSIVE, passive_at__lte=now - PASSIVE_PERIOD)
    return passive.update(state=State.RETIRED, retired_at=now, private_pem="")


@transaction.atomic
def _start(now: datetime) -> SigningKey:
    _lock()
    return _active() or _rotate(now)


def _rotate(now: datetime) -> SigningKey:
    active, successor = _active(), _pending() or _create_pending(now)
    if active:
        _demote(active, now)
    _promote(successor, now)
    _create_pending(now)
    return successor


def _active() -> SigningKey | None:
    return SigningKey.objects.filter(state=State.ACTIVE).first()


def _pending() -> SigningKey | None:
    return SigningKey.objects.filter(state=State.PENDING).first()


def _lock() -> None:
    """Serialize changes to the keys. Reads are not blocked."""
    with connection.cursor() as cursor:
        cursor.execute("LOCK TABLE accounts_signing_key IN SHARE ROW EXCLUSIVE MODE")


def _create_pending(now: datetime) -> SigningKey:
    public, pem = key_pairs.generate()
    return SigningKey.objects.create(
        kid=public.thumbprint,
        state=State.PENDING,
        public_jwk=dict(public.members),
        private_pem=pem,
        created_at=now,
    )


def _promote(key: SigningKey, now: datetime) -> None:
    key.state, key.activated_at = State.ACTIVE, now
    key.save(update_fields=["state", "activated_at"])


def _demote(key: SigningKey, now: datetime) -> None:
    key.state, key.passive_at = State.PASSIVE, now
    key.save(update_fields=["state", "passive_at"])


def _retire(key: SigningKey, now: datetime) -> None:
    key.state, key.retired_at, key.private_pem = State.RETIRED, now, ""
    key.save(update_fields=["state", "retired_at", "private_pem"])
