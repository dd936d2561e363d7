"""The evidence of a run: the gateway's tables, the upstream's ledger, and the clients' journal."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from psycopg.rows import class_row

from bench.books import Ledger
from bench.prices import plain, rounded
from tests.chaos.database import Database
from tests.chaos.journal import Journal
from tests.chaos.models import HONEST_BEHAVIOURS

CALLS = """
SELECT r.id, w.owner_key AS payer, r.idempotency_key AS key, r.state, r.max_cost_microusd AS max_cost,
       r.hold_microusd AS hold, r.charge_microusd AS charge, r.review_reason, r.resolution, u.basis,
       (SELECT coalesce(sum(t.amount_microusd), 0)::bigint FROM billing_transfer t
         WHERE t.kind = 'charge' AND t.source = r.id) AS posted
  FROM billing_reservation r
  JOIN billing_wallet w ON w.id = r.wallet_id
  LEFT JOIN billing_usage_record u ON u.reservation_id = r.id
"""
BUDGETS_PASSED = """
SELECT coalesce(sum(greatest(0, used.microusd - b.limit_microusd)), 0)::bigint
  FROM billing_budget b
 CROSS JOIN LATERAL (
        SELECT coalesce(sum(CASE r.state WHEN 'settled' THEN r.charge_microusd WHEN 'released' THEN 0
                            ELSE r.hold_microusd END), 0) AS microusd
          FROM billing_reservation r
         WHERE r.wallet_id = b.wallet_id AND (b.product IS NULL OR b.product = r.product)
           AND (b.membership_id IS NULL OR b.membership_id = r.membership_id)
           AND (b.client_id IS NULL OR b.client_id = r.client_id)
           AND (r.closed_at IS NULL OR (r.closed_at AT TIME ZONE 'UTC')::date >= b.period_start)) used
"""


@dataclass(frozen=True, slots=True)
class Call:
    """One call in the ledger; amounts in micro-USD. `posted` is the sum of its charge's transfers."""

    id: str
    payer: str
    key: str | None
    state: str
    max_cost: int
    hold: int
    charge: int | None
    review_reason: str | None
    resolution: str | None
    basis: str | None
    posted: int

    @property
    def is_closed(self) -> bool:
        """Return whether its charge is final."""
        return self.state in ("settled", "released")


class Work(NamedTuple):
    """One request in the upstream's ledger. `cost` is the reported usage at the caller's price, if it reported
    honestly."""

    call_id: str
    is_complete: bool
    cost: int | None
    received_at: float

    @classmethod
    def of(cls, entry: Mapping[str, Any]) -> "Work":
        """Read an entry of the upstream's ledger."""
        is_complete = entry["outcome"] == "complete"
        usage = entry["reported_usage"]
        is_reported = is_complete and entry["behaviour"] in HONEST_BEHAVIOURS
        return cls(
            call_id=entry["idempotency_key"] or f"keyless {entry['id']}",
            is_complete=is_complete,
            cost=rounded(plain(usage["prompt_tokens"], usage["completion_tokens"])) if is_reported else None,
            received_at=entry["received_at"],
        )


@dataclass(frozen=True, slots=True)
class Evidence:
    """The input of all verdicts. `overspent` is the sum that wallets and budgets gave beyond their limits."""

    calls: Mapping[str, Call]
    works: Mapping[str, Sequence[Work]]
    journal: Journal
    overspent: int
    audit: Sequence[str]


def read_calls(database: Database) -> dict[str, Call]:
    """Read every call from the gateway's tables."""
    with database.connect() as connection, connection.cursor(row_factory=class_row(Call)) as cursor:
        return {call.id: call for call in cursor.execute(CALLS)}


def read_overspent(database: Database) -> int:
    """Sum spending and holds beyond grants and budgets, from single calls, in micro-USD."""
    ledger = Ledger(database.url)
    with database.connect() as connection:
        [passed] = connection.execute(BUDGETS_PASSED).fetchone() or (0,)
    try:
        return int(passed) + ledger.overdraft()
    finally:
        ledger.close()


def read_works(entries: Iterable[Mapping[str, Any]]) -> dict[str, list[Work]]:
    """Group the upstream's entries by call."""
    works: dict[str, list[Work]] = defaultdict(list)
    for entry in entries:
        work = Work.of(entry)
        works[work.call_id].append(work)
    return dict(works)
