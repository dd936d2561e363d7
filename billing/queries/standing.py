"""The money that is held, in review, lost and owed now, for the console's home page."""

from datetime import datetime
from typing import NamedTuple

from django.db import connection


class Sum(NamedTuple):
    """A sum of money in micro-USD, of how many rows, and the oldest of them, None if that does not matter."""

    microusd: int
    rows: int
    oldest: datetime | None = None


class Standing(NamedTuple):
    """Open calls' holds; those of calls in review among them; losses; wallets' debts; invoices that are issued and not paid."""

    held: Sum
    in_review: Sum
    lost: Sum
    debts: Sum
    unpaid: Sum


_STANDING = """
SELECT 'held', coalesce(sum(hold_microusd), 0)::bigint, count(*), NULL::timestamptz FROM billing_reservation
 WHERE closed_at IS NULL
UNION ALL
SELECT 'in_review', coalesce(sum(hold_microusd), 0)::bigint, count(*), min(created_at) FROM billing_reservation
 WHERE closed_at IS NULL AND review_reason IS NOT NULL AND state = 'review'
UNION ALL
SELECT 'lost', coalesce(sum(amount_microusd), 0)::bigint, count(*), NULL FROM billing_loss WHERE created_at >= %(since)s
UNION ALL
SELECT 'debts', coalesce(sum(debt_microusd), 0)::bigint, count(*), NULL FROM billing_wallet WHERE debt_microusd > 0
UNION ALL
SELECT 'unpaid', coalesce(sum(due_microusd), 0)::bigint, count(*), min(issued_at) FROM billing_invoice
 WHERE status = 'open' OR status = 'past_due'
"""


def read(since: datetime) -> Standing:
    """Read all of them in one statement; losses since an instant."""
    with connection.cursor() as cursor:
        cursor.execute(_STANDING, {"since": since})
        return Standing(**{name: Sum(*found) for name, *found in cursor.fetchall()})
