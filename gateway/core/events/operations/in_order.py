"""Records the events of several steps of one transaction at its end, in the order of their owners.

The counter of an owner's events is the last lock of a transaction, and several of them are taken in the order of the owners. A
step that records its own events cannot know whether another step follows.
"""

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

from django.db import connection, transaction

from gateway.core.events.rules.types import ALL_TYPES

_RECORD = """
SELECT count(events_record(e.owner_kind, e.owner_key, e.type, e.data, e.product, e.now))
  FROM jsonb_to_recordset(%s::jsonb) AS e (
         owner_kind text, owner_key text, type text, data jsonb, product text, now timestamptz)
"""
_waiting: ContextVar[list["Happened"] | None] = ContextVar("waiting_events", default=None)


@dataclass(frozen=True)
class Happened:
    """An event to record, as `recording.record` takes it."""

    owner_kind: str
    owner_key: str
    type: str
    data: dict[str, Any]
    product: str | None = None
    now: datetime | None = None


@contextmanager
def at_the_end() -> Iterator[None]:
    """Record what is recorded in the block when it ends, or nothing if it fails. A block within another one ends with that one.

    The block is part of a transaction, and takes no locks after it.
    """
    if _waiting.get() is not None:
        yield
        return
    happened: list[Happened] = []
    token = _waiting.set(happened)
    try:
        yield
    finally:
        _waiting.reset(token)
    _write(sorted(happened, key=lambda each: (each.owner_kind, each.owner_key)))


def record(happened: Sequence[Happened]) -> None:
    """Record events of one owner, or of several in their order, in the caller's transaction: now, or at the end of the block that it
    is in.

    Raises TransactionManagementError outside of a transaction, and ValueError for an unknown type.
    """
    if not connection.in_atomic_block:
        raise transaction.TransactionManagementError("an event is recorded in the transaction of what happened")
    for each in happened:
        if each.type not in ALL_TYPES:
            raise ValueError(f"unknown type of event: {each.type}")
    waiting = _waiting.get()
    if waiting is None:
        _write(happened)
    else:
        waiting.extend(happened)


def _write(happened: Sequence[Happened]) -> None:
    if happened:
        with connection.cursor() as cursor:
            cursor.execute(_RECORD, [json.dumps([asdict(each) for each in happened], default=datetime.isoformat)])
