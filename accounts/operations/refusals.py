"""Keeps why assertions of an integration were refused of late, for its page in the console."""

import logging
from datetime import datetime, timedelta
from typing import Any

from django.db import DatabaseError, connection, transaction
from psycopg.types.json import Jsonb

from accounts.models import RefusedAssertion
from gateway.core.database.purge import purge as purge_rows
from gateway.core.http.request_ids import current

KEPT = timedelta(days=14)
LATEST_MAX = 5

# A row that another refusal is just counting is not waited for: strangers may send as many as they like.
_COUNT = """
WITH free AS (
  SELECT id FROM accounts_refused_assertion WHERE integration_id = %(integration)s AND cause = %(cause)s
     FOR NO KEY UPDATE SKIP LOCKED
)
UPDATE accounts_refused_assertion AS kept
   SET count = count + 1, last_at = %(now)s,
       latest = (SELECT jsonb_agg(one ORDER BY place)
                   FROM jsonb_array_elements(%(latest)s || kept.latest) WITH ORDINALITY AS each (one, place)
                  WHERE place <= %(most)s)
  FROM free WHERE kept.id = free.id
"""
_BEGIN = """
INSERT INTO accounts_refused_assertion (integration_id, cause, count, latest, last_at)
SELECT id, %(cause)s, 1, %(latest)s, %(now)s FROM accounts_integration WHERE id = %(integration)s
    ON CONFLICT DO NOTHING
"""

_logger = logging.getLogger(__name__)


def record(integration_id: int, cause: str, reason: str, *, now: datetime) -> None:
    """Count a refusal, and keep it among the latest few of its cause. Call it outside of the transaction that was refused.

    Of refusals at the same moment some are not counted. A database that refuses the row changes nothing for the caller.
    """
    latest = Jsonb([{"at": now.isoformat(), "requestId": current(), "reason": reason}])
    values: dict[str, Any] = {
        "integration": integration_id,
        "cause": cause,
        "latest": latest,
        "now": now,
        "most": LATEST_MAX,
    }
    try:
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(_COUNT, values)
            if not cursor.rowcount:
                cursor.execute(_BEGIN, values)
    except DatabaseError:
        _logger.warning("the refusal of an assertion was not recorded", exc_info=True)


def purge(*, now: datetime) -> int:
    """Delete the refusals of causes that have not occurred for 14 days; return how many rows."""
    return purge_rows(RefusedAssertion.objects.filter(last_at__lt=now - KEPT).order_by("last_at"))
