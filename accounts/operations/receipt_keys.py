"""Manages the life cycle of the keys that sign receipts: pending, active, retired.

A key is published from its creation on, for ever: receipts do not expire. Its private part is destroyed when the next key
takes over. These keys are not those of access tokens, so that a leaked key of tokens cannot sign receipts.
"""

from datetime import datetime

from django.db import connection, transaction

from accounts.models import ReceiptKey
from accounts.rules import key_pairs

State = ReceiptKey.State

PUBLISHED = (State.PENDING, State.ACTIVE, State.RETIRED)


def ensure_active_key(*, now: datetime) -> ReceiptKey:
    """Return the active key. At the first start, create it and its successor. Safe in any number of processes."""
    return _active() or _start(now)


@transaction.atomic
def rotate(*, now: datetime) -> ReceiptKey:
    """Make the pending key the active one and publish its successor; return the active key."""
    _lock()
    return _rotate(now)


@transaction.atomic
def rotate_if_due(*, now: datetime, signing_since: datetime) -> ReceiptKey:
    """Rotate if the active key has been signing since before `signing_since`; return the active key."""
    _lock()
    active = _active()
    if active is not None and (active.activated_at or now) > signing_since:
        return active
    return _rotate(now)


@transaction.atomic
def withdraw(kid: str, *, now: datetime) -> ReceiptKey:
    """Stop publishing a leaked key. Raises ReceiptKey.DoesNotExist if no published key has this id.

    Its receipts can no longer be verified; callers get new ones of the same calls. If the key is active or pending, it is
    replaced in the same transaction.
    """
    _lock()
    key = ReceiptKey.objects.get(kid=kid, state__in=PUBLISHED)
    state = key.state
    key.state, key.withdrawn_at, key.private_pem = State.WITHDRAWN, now, ""
    key.save(update_fields=["state", "withdrawn_at", "private_pem"])
    if state == State.PENDING:
        _create_pending(now)
    elif state == State.ACTIVE:
        _rotate(now)
    return key


@transaction.atomic
def _start(now: datetime) -> ReceiptKey:
    _lock()
    return _active() or _rotate(now)


def _rotate(now: datetime) -> ReceiptKey:
    active, successor = _active(), ReceiptKey.objects.filter(state=State.PENDING).first() or _create_pending(now)
    if active:
        active.state, active.retired_at, active.private_pem = State.RETIRED, now, ""
        active.save(update_fields=["state", "retired_at", "private_pem"])
    successor.state, successor.activated_at = State.ACTIVE, now
    successor.save(update_fields=["state", "activated_at"])
    _create_pending(now)
    return successor


def _active() -> ReceiptKey | None:
    return ReceiptKey.objects.filter(state=State.ACTIVE).first()


def _lock() -> None:
    """Serialize changes to the keys. Reads are not blocked."""
    with connection.cursor() as cursor:
        cursor.execute("LOCK TABLE accounts_receipt_key IN SHARE ROW EXCLUSIVE MODE")


def _create_pending(now: datetime) -> ReceiptKey:
    public, pem = key_pairs.generate()
    return ReceiptKey.objects.create(
        kid=public.thumbprint,
        state=State.PENDING,
        public_jwk=dict(public.members),
        private_pem=pem,
        created_at=now,
    )
