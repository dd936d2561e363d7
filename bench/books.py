"""Compares two records of the same work: the gateway's ledger and the upstream's own."""

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any, NamedTuple

import psycopg
from psycopg.rows import namedtuple_row

from bench.prices import of_entry, rounded

SETTLE_SECONDS = 10.0
POLL_SECONDS = 0.1

CALLS = """
SELECT r.id, w.owner_key AS owner, r.state, r.max_cost_microusd, r.hold_microusd, r.charge_microusd,
       u.input_tokens, u.output_tokens, u.basis
  FROM billing_reservation r
  JOIN billing_wallet w ON w.id = r.wallet_id
  LEFT JOIN billing_usage_record u ON u.reservation_id = r.id
 WHERE r.created_at >= %s
"""
OPEN_CALLS = """
SELECT count(*) FROM billing_reservation
 WHERE created_at >= %s AND state = 'dispatched'
"""
OVERDRAFTS = """
SELECT coalesce(sum(greatest(0, spent.microusd - given.microusd)), 0)::bigint
  FROM (SELECT wallet_id,
               sum(CASE state WHEN 'settled' THEN charge_microusd WHEN 'released' THEN 0
                   ELSE hold_microusd END) AS microusd
          FROM billing_reservation GROUP BY wallet_id) spent
  JOIN (SELECT wallet_id, sum(granted_microusd) AS microusd FROM billing_credit_lot GROUP BY wallet_id) given
    ON given.wallet_id = spent.wallet_id
"""


@dataclass(frozen=True, slots=True)
class Books:
    """The result of a comparison, money in micro-USD. `overspend` and `drift` must be 0."""

    calls: int
    settled: int
    released: int
    in_review: int
    still_open: int
    charged_microusd: int
    served_microusd: int
    overspend_microusd: int
    """Charges above the hold, holds above the maximum cost, and wallet spending above the grants."""
    drift_microusd: int
    """Sum over calls of the absolute difference between charge and the upstream's ledger x price."""
    unmatched: int
    """Settled calls that are unknown to the upstream, and upstream work that was not charged."""


class Ledger:
    """Reads the gateway's tables of one run, without using the gateway's code."""

    def __init__(self, database_url: str) -> None:
        self._connection = psycopg.connect(database_url, autocommit=True)

    def close(self) -> None:
        self._connection.close()

    def now(self) -> datetime:
        """Return the database's time, which separates a lane's calls from earlier ones."""
        [moment] = self._row("SELECT clock_timestamp()")
        return moment

    def await_settlement(self, since: datetime) -> int:
        """Wait until no call since then is open; return how many still are at the timeout."""
        until = time.monotonic() + SETTLE_SECONDS
        while True:
            [open_calls] = self._row(OPEN_CALLS, since)
            if not open_calls or time.monotonic() > until:
                return int(open_calls)
            time.sleep(POLL_SECONDS)

    def calls(self, since: datetime) -> list[Any]:
        """List the calls since then."""
        with self._connection.cursor(row_factory=namedtuple_row) as cursor:
            return cursor.execute(CALLS, (since,)).fetchall()

    def overdraft(self) -> int:
        """Sum the spending and holds of wallets beyond their grants, over the whole run."""
        [microusd] = self._row(OVERDRAFTS)
        return int(microusd)

    def _row(self, query: str, *parameters: object) -> Any:
        row = self._connection.execute(query.encode(), parameters).fetchone()
        assert row is not None
        return row


class Served(NamedTuple):
    """The upstream's work for one call."""

    cost_microusd: int
    prompt_tokens: int
    completion_tokens: int


def served_work(entries: Iterable[Mapping[str, Any]]) -> dict[str, Served]:
    """Sum the upstream's ledger by the caller's key; refused requests cost nothing."""
    work: dict[str, tuple[Decimal, int, int]] = {}
    for entry in entries:
        if entry["outcome"] == "refused":
            continue
        key = entry["idempotency_key"] or entry["client_request_id"] or f"keyless {entry['id']}"
        cost, prompt, completion = work.get(key, (Decimal(0), 0, 0))
        counted = (prompt + entry["prompt_tokens"], completion + entry["completion_tokens"])
        work[key] = (cost + of_entry(entry), *counted)
    return {key: Served(rounded(cost), *counted) for key, (cost, *counted) in work.items()}


def compare(ledger: Ledger, since: datetime, entries: Iterable[Mapping[str, Any]]) -> Books:
    """Compare the gateway's calls since a moment with the upstream's ledger since the same moment."""
    still_open = ledger.await_settlement(since)
    return reconcile(ledger.calls(since), served_work(entries), ledger.overdraft(), still_open)


def reconcile(calls: Sequence[Any], served: Mapping[str, Served], overdraft: int, still_open: int) -> Books:
    """Compare calls with upstream work, one by one."""
    settled = [call for call in calls if call.state == "settled"]
    known = {call.id for call in calls if call.state != "released"}
    strangers = [work for key, work in served.items() if key not in known]
    charged_for_nothing = [call for call in settled if call.id not in served]
    differences = (abs(call.charge_microusd - served[call.id].cost_microusd) for call in settled if call.id in served)
    beyond_hold = (max(0, call.charge_microusd - call.hold_microusd) for call in settled)
    beyond_max_cost = (max(0, call.hold_microusd - call.max_cost_microusd) for call in calls)
    return Books(
        calls=len(calls),
        settled=len(settled),
        released=sum(call.state == "released" for call in calls),
        in_review=sum(call.state == "review" for call in calls),
        still_open=still_open,
        charged_microusd=sum(call.charge_microusd for call in settled),
        served_microusd=sum(work.cost_microusd for work in served.values()),
        overspend_microusd=overdraft + sum(beyond_hold) + sum(beyond_max_cost),
        drift_microusd=sum(differences)
        + sum(work.cost_microusd for work in strangers)
        + sum(call.charge_microusd for call in charged_for_nothing),
        unmatched=len(strangers) + len(charged_for_nothing),
    )
