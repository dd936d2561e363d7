"""Records the receipts that the database lost, and what an operator decided about each."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

import orjson
from django.db.models import QuerySet

from billing.models import LostReceipt
from billing.rules.owners import Owner
from gateway.core.database import ledger_connection
from gateway.core.database.values import Elements

_RECORD = """
INSERT INTO billing_lost_receipt (usage_id, owner_kind, owner_key, charge_microusd, delivered)
SELECT l.usage_id, l.owner_kind, l.owner_key, l.charge_microusd, l.delivered
  FROM json_to_recordset($1::json) AS l (usage_id text, owner_kind text, owner_key text, charge_microusd bigint, delivered jsonb)
    ON CONFLICT (usage_id) DO NOTHING RETURNING usage_id
"""


class Lost(NamedTuple):
    """A call that the database lost, and the charge on its receipt; None if it was left to review."""

    usage_id: str
    owner: Owner
    charge_microusd: int | None
    delivered: Mapping[str, Any] | None


async def record(lost: Sequence[Lost]) -> None:
    """Record calls in the database of the newest history; one that is recorded already stays as it is."""
    elements = Elements([_element(one) for one in lost])
    async with ledger_connection() as connection:
        await connection.run(_RECORD, [elements])


def resolve(usage_id: str, *, outcome: str, reason: str, actor: str, now: datetime) -> bool:
    """Record an operator's decision; return False if there is one already. No money is posted."""
    waiting = unresolved().filter(pk=usage_id)
    return bool(waiting.update(outcome=outcome, reason=reason, resolved_by=actor, resolved_at=now))


def unresolved() -> QuerySet[LostReceipt]:
    """Return the receipts that wait for an operator."""
    return LostReceipt.objects.filter(outcome=None)


def _element(lost: Lost) -> bytes:
    kind, key = lost.owner
    named = {"usage_id": lost.usage_id, "owner_kind": kind, "owner_key": key}
    return orjson.dumps({**named, "charge_microusd": lost.charge_microusd, "delivered": lost.delivered})
