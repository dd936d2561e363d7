"""What a wallet's reports of a UTC month add up: its calls by the day they were begun, its charges by the ledger's."""

from datetime import datetime
from typing import Any

from django.db import connection

from billing.models import Wallet
from billing.rules.owners import Owner

Month = tuple[datetime, datetime]

FACTS = """
SELECT (r.created_at AT TIME ZONE 'UTC')::date AS day, r.product, r.membership_id, r.actor_did, r.model, 1 AS calls,
       coalesce(u.input_tokens, 0) AS input_tokens, coalesce(u.output_tokens, 0) AS output_tokens,
       0 AS charges, 0::bigint AS charged_microusd
  FROM billing_reservation r LEFT JOIN billing_usage_record u ON u.reservation_id = r.id
 WHERE r.wallet_id = %(wallet)s AND r.created_at >= %(start)s AND r.created_at < %(end)s
   AND r.created_at > '2000-01-01T00:00:00Z' AND r.state <> 'released'
UNION ALL
SELECT (t.created_at AT TIME ZONE 'UTC')::date, r.product, r.membership_id, r.actor_did, r.model, 0, 0, 0,
       1, t.amount_microusd
  FROM billing_transfer t JOIN billing_reservation r ON r.id = t.source
 WHERE t.wallet_id = %(wallet)s AND t.created_at >= %(start)s AND t.created_at < %(end)s AND t.kind = 'charge'
"""

SUMS = "sum(calls)::bigint, sum(input_tokens)::bigint, sum(output_tokens)::bigint, sum(charged_microusd)::bigint"


def read(owner: Owner, month: Month, query: str, **parameters: Any) -> list[tuple[Any, ...]]:
    """Run a query over the facts `{facts}` of an owner's month `[start, end)`; an owner without a wallet has none."""
    kind, key = owner
    wallet = Wallet.objects.filter(owner_kind=kind, owner_key=key).values_list("id", flat=True).first()
    if wallet is None:
        return []
    start, end = month
    with connection.cursor() as cursor:
        cursor.execute(query.format(facts=FACTS), {"wallet": wallet, "start": start, "end": end, **parameters})
        return cursor.fetchall()
