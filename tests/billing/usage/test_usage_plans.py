"""Reports of a busy wallet read few rows: days that are summed up, and what closed since, off their indexes."""

from datetime import datetime, timedelta
from typing import Any

import pytest
from django.db import connection
from django.utils import timezone

from billing.queries import reports, usage_facts, usage_reports
from billing.queries.usage import newest
from billing.rules.months import month_around
from tests.support.fresh_tables import renew
from tests.support.unguarded import unguarded

# Transactions are real, so that what the rows took of the tables is given back: other tests look at plans as well.
pytestmark = pytest.mark.django_db(transaction=True)

CALLS = 20_000
OWNER = ("organization", "org_busy")
ROWS = """
INSERT INTO billing_wallet (id, owner_kind, owner_key)
SELECT 'wal_' || n, 'account', 'did:web:' || n FROM generate_series(1, 100) n
UNION ALL SELECT 'wal_busy', 'organization', 'org_busy';
INSERT INTO billing_reservation (
  id, wallet_id, actor_did, org_id, membership_id, product, route, model, replayable, state, max_cost_microusd, hold_microusd,
  cash_held_microusd, price_version_id, created_at, dispatched_at, deadline_at, overrun_microusd, closed_at, charge_microusd)
SELECT 'use_' || lpad(n::text, 9, '0'), wallet, 'did:web:a', CASE wallet WHEN 'wal_busy' THEN 'org_busy' END,
       CASE wallet WHEN 'wal_busy' THEN 'mem_' || n %% 100 END, 'studio', 'chat.completions', 'fast', false, 'settled', 1, 1, 1, 1,
       at, at, at, 0, at, 1
  FROM generate_series(1, %(calls)s) n, LATERAL (
    SELECT CASE WHEN n %% 4 = 0 THEN 'wal_' || 1 + n %% 100 ELSE 'wal_busy' END AS wallet,
           %(start)s + (%(now)s - %(start)s) * n / %(calls)s AS at) made;
INSERT INTO billing_transfer (kind, source, debit_account, credit_account, amount_microusd, wallet_id, created_at)
SELECT 'charge', r.id, 'wallet:' || r.wallet_id, 'platform:revenue', 1, r.wallet_id, r.closed_at FROM billing_reservation r;
INSERT INTO billing_usage_record (reservation_id, charge_microusd, basis, settled_at)
SELECT r.id, 1, 'upstream', r.closed_at FROM billing_reservation r
"""
OTHERS = """
WITH subject AS (
  INSERT INTO billing_usage_subject (wallet_id, actor_did, model)
  SELECT 'wal_other_' || n, 'did:web:' || n, 'fast' FROM generate_series(1, 2000) n RETURNING id)
INSERT INTO billing_usage_day (subject_id, closed_on, begun_on, calls, input_tokens, output_tokens, charges, charged_microusd)
SELECT id, day, day, 1, 1, 1, 1, 1
  FROM subject, generate_series(%(start)s::date, %(start)s::date + 9, interval '1 day') day
"""
TABLES = ("reservation", "transfer", "usage_record", "usage_subject", "usage_day", "wallet")


@pytest.fixture
def busy() -> datetime:
    """Have an organization with most of a month's calls, all but the last few summed up; return since when."""
    now = timezone.now()
    start, _ = month_around(now)
    horizon = now - timedelta(seconds=(now - start).total_seconds() / 100)
    renew(*(f"billing_{table}" for table in TABLES))
    with connection.cursor() as cursor, unguarded():
        for statement in ROWS.split(";\n"):
            cursor.execute(statement, {"calls": CALLS, "start": start, "now": now})
        cursor.execute("SELECT billing_roll_up_usage(%s, interval '1 year')", [horizon])
        cursor.execute(OTHERS, {"start": start})
        for table in TABLES:
            cursor.execute(f"ANALYZE billing_{table}")
    return horizon


def plan_of(query: str, **parameters: Any) -> str:
    wallet = usage_facts.wallet_id(OWNER)
    assert wallet is not None
    scope = usage_facts.scope(wallet, month_around(timezone.now()))
    with connection.cursor() as cursor:
        cursor.execute(f"EXPLAIN {query}", {**scope, **parameters})
        return "\n".join(row[0] for row in cursor.fetchall())


def test_a_report_reads_days_and_what_closed_since_off_their_indexes(busy: datetime) -> None:
    facts = usage_facts.FACTS.format(bound="LIMIT %(bound)s")
    plan = plan_of(facts, bound=20_001)
    for index in ("reservation_closed", "reservation_open", "transfer_of_wallet", "billing_usage_day_pkey"):
        assert index in plan, plan
    for table in ("reservation", "transfer", "usage_record"):
        assert f"Seq Scan on billing_{table}" not in plan
    assert "reservation_of_wallet" not in plan


def test_a_report_reads_few_rows_of_many_calls(busy: datetime) -> None:
    """Of what is read one by one there is a hundredth, whichever index the planner takes for it."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM billing_reservation WHERE closed_at >= %s", [busy])
        [since] = cursor.fetchone()
    assert since <= CALLS / 50
    report = usage_reports.by_model(OWNER, month_around(timezone.now()))
    assert report.total.calls == report.total.charged_microusd == CALLS * 3 / 4
    bounded = usage_facts.read(OWNER, month_around(timezone.now()), reports.USED, bound=CALLS // 50)
    assert sum(calls for _, _, calls, *_ in bounded) == CALLS * 3 / 4
    assert_others_read_off_their_indexes()


def assert_others_read_off_their_indexes() -> None:
    """Check what stands beside a report, on the same rows."""
    begun_before = plan_of(usage_facts.BEGUN_BEFORE)
    assert "billing_usage_day_pkey" in begun_before
    assert "transfer_of_wallet" in begun_before
    assert "Seq Scan on billing_transfer" not in begun_before
    assert "Seq Scan on billing_reservation" not in begun_before
    assert "reservation_open" in plan_of(reports.HELD, kind=OWNER[0], key=OWNER[1], bound=10_001)
    for member in ("mem_7", "mem_newcomer"):
        plan = newest(OWNER, 100, member=member).explain()
        assert "reservation_of_member" in plan
        assert "reservation_of_wallet" not in plan
        # One page is read, not all that the member ever called.
        assert member == "mem_newcomer" or "-> Sort" not in " ".join(plan.split())
        assert "Seq Scan" not in plan
