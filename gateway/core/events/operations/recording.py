"""Record events."""

import json
from datetime import datetime
from typing import Any

from django.db import connection, transaction

from gateway.core.events.rules.types import ALL_TYPES

_RECORD = "SELECT events_record(%s, %s, %s, %s::jsonb, %s, %s)"


def record(
    *,
    owner_kind: str,
    owner_key: str,
    type: str,  # noqa: A002 - the event's own word
    data: dict[str, Any],
    product: str | None = None,
    now: datetime | None = None,
) -> int:
    """Write an event in the caller's transaction; return its id.

    It locks the owner's counter until the transaction ends. Call it last, after all other locks. `data` holds JSON values.
    Raises TransactionManagementError outside of a transaction, and ValueError for an unknown type.
    """
    if not connection.in_atomic_block:
        raise transaction.TransactionManagementError("an event is recorded in the transaction of what happened")
    if type not in ALL_TYPES:
        raise ValueError(f"unknown type of event: {type}")
    with connection.cursor() as cursor:
        cursor.execute(_RECORD, [owner_kind, owner_key, type, json.dumps(data), product, now])
        (event_id,) = cursor.fetchone()
    return int(event_id)
