"""The facts that a wallet's monthly reports sum: its calls by the day they began, its charges by the ledger's day.

Most facts come from the days into which a job has summed closed calls (`UsageDay`); calls that closed after that job's
horizon, and open calls, are read one by one. Both are read from one database snapshot, so each call counts once, even
if the job runs meanwhile or has never run.
"""

from datetime import datetime
from typing import Any

from django.db import connection

from billing.models import UsageHorizon, Wallet
from billing.models.call import BEGINNING
from billing.queries.snapshots import one_snapshot
from billing.rules.months import Month
from billing.rules.owners import Owner

# `{bound}` limits the rows that are read one by one, for a report that is refused beyond a limit.
FACTS = """
SELECT d.closed_on AS day, s.product, s.membership_id, s.actor_did, s.model, s.client_id,
       CASE d.begun_on WHEN d.closed_on THEN d.calls ELSE 0 END AS calls,
       CASE d.begun_on WHEN d.closed_on THEN d.input_tokens ELSE 0 END AS input_tokens,
       CASE d.begun_on WHEN d.closed_on THEN d.output_tokens ELSE 0 END AS output_tokens,
       d.charges, d.charged_microusd
  FROM billing_usage_subject s JOIN billing_usage_day d ON d.subject_id = s.id
 WHERE s.wallet_id = %(wallet)s AND d.closed_on >= %(first)s AND d.closed_on < %(after)s
   AND (d.begun_on = d.closed_on OR d.charges > 0)
UNION ALL
SELECT d.begun_on, s.product, s.membership_id, s.actor_did, s.model, s.client_id, d.calls, d.input_tokens, d.output_tokens,
       0, 0
  FROM billing_usage_subject s JOIN billing_usage_day d ON d.subject_id = s.id
 WHERE s.wallet_id = %(wallet)s AND d.begun_on >= %(first)s AND d.begun_on < %(after)s AND d.closed_on > d.begun_on
UNION ALL
(SELECT (r.created_at AT TIME ZONE 'UTC')::date, r.product, r.membership_id, r.actor_did, r.model, r.client_id, 1,
        coalesce(u.input_tokens, 0), coalesce(u.output_tokens, 0), 0, 0
   FROM billing_reservation r LEFT JOIN billing_usage_record u ON u.reservation_id = r.id
  WHERE r.wallet_id = %(wallet)s AND r.created_at >= %(start)s AND r.created_at < %(end)s
    AND r.created_at > '2000-01-01T00:00:00Z' AND r.closed_at >= %(horizon)s AND r.state = 'settled' {bound})
UNION ALL
(SELECT (r.created_at AT TIME ZONE 'UTC')::date, r.product, r.membership_id, r.actor_did, r.model, r.client_id, 1, 0, 0,
        0, 0
   FROM billing_reservation r
  WHERE r.wallet_id = %(wallet)s AND r.created_at >= %(start)s AND r.created_at < %(end)s AND r.closed_at IS NULL
  {bound})
UNION ALL
(SELECT (t.created_at AT TIME ZONE 'UTC')::date, r.product, r.membership_id, r.actor_did, r.model, r.client_id, 0, 0, 0,
        1, t.amount_microusd
   FROM billing_transfer t LEFT JOIN billing_reservation r ON r.id = t.source
  WHERE t.wallet_id = %(wallet)s AND t.created_at >= greatest(%(start)s, %(horizon)s) AND t.created_at < %(end)s
    AND t.kind = 'charge' {bound})
"""

# The start of the calls that were charged in the month but begun before it.
BEGUN_BEFORE = """
SELECT min(begun_at) FROM (
  SELECT d.begun_on::timestamp AT TIME ZONE 'UTC' AS begun_at
    FROM billing_usage_subject s JOIN billing_usage_day d ON d.subject_id = s.id
   WHERE s.wallet_id = %(wallet)s AND d.closed_on >= %(first)s AND d.closed_on < %(after)s AND d.begun_on < %(first)s
     AND d.charges > 0
  UNION ALL
  SELECT r.created_at FROM billing_transfer t JOIN billing_reservation r ON r.id = t.source
   WHERE t.wallet_id = %(wallet)s AND t.created_at >= greatest(%(start)s, %(horizon)s) AND t.created_at < %(end)s
     AND t.kind = 'charge' AND r.created_at < %(start)s) late
"""

SUMS = "sum(calls)::bigint, sum(input_tokens)::bigint, sum(output_tokens)::bigint, sum(charged_microusd)::bigint"


def read(owner: Owner, month: Month, query: str, *, bound: int | None = None, **parameters: Any) -> list[Any]:
    """Run a query over the facts `{facts}` of an owner's month `[start, end)`; an owner without a wallet has none.

    With `bound`, at most that many rows of each kind are read one by one.
    """
    with one_snapshot():
        wallet = wallet_id(owner)
        if wallet is None:
            return []
        facts = FACTS.format(bound="" if bound is None else "LIMIT %(bound)s")
        with connection.cursor() as cursor:
            cursor.execute(query.format(facts=facts), {**scope(wallet, month), "bound": bound, **parameters})
            return cursor.fetchall()


def begun_since(owner: Owner, month: Month) -> datetime | None:
    """Return the earliest start of the calls that were charged in the month but begun before it; None if there are
    none."""
    rows = read(owner, month, BEGUN_BEFORE)
    return rows[0][0] if rows else None


def wallet_id(owner: Owner) -> str | None:
    """Return the id of an owner's wallet, or None if it is not open yet."""
    kind, key = owner
    return Wallet.objects.filter(owner_kind=kind, owner_key=key).values_list("id", flat=True).first()


def horizon() -> datetime:
    """Return the time up to which closed calls are included in the days."""
    return UsageHorizon.objects.values_list("ends_at", flat=True).first() or BEGINNING


def scope(wallet: str, month: Month) -> dict[str, Any]:
    start, end = month
    return {
        "wallet": wallet,
        "start": start,
        "end": end,
        "first": start.date(),
        "after": end.date(),
        "horizon": horizon(),
    }
