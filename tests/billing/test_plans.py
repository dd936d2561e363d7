"""What a busy wallet's look-ups cost does not grow with its calls, whatever the statistics say."""

from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.db.models import QuerySet
from django.utils import timezone

from billing.queries import reviews
from billing.queries.usage import newest
from tests.support.fresh_tables import renew

pytestmark = pytest.mark.django_db

WALLETS = """
INSERT INTO billing_wallet (id, owner_kind, owner_key, balance_microusd, held_microusd, debt_microusd)
SELECT 'wal_' || n, 'account', 'did:web:' || n, 0, 0, 0 FROM generate_series(1, 100) n
"""
CALLS = """
INSERT INTO billing_reservation (
  id, wallet_id, actor_did, route, model, idempotency_key, request_digest, replayable, state, max_cost_microusd,
  hold_microusd, cash_held_microusd, price_version_id, created_at, overrun_microusd, closed_at, charge_microusd)
SELECT 'use_' || n, 'wal_' || n, 'did:web:a', 'chat.completions', 'fast', 'key-' || n, '\\x00', true, 'settled', 1,
       1, 1, 1, now(), 0, now(), 1
  FROM generate_series(1, 100) n
"""
LOOK_UP = """
SELECT r.id FROM billing_reservation r
 WHERE r.wallet_id = 'wal_1' AND r.route = 'chat.completions' AND r.idempotency_key = 'key-7' AND r.replayable
"""


@pytest.fixture
def small_wallets() -> None:
    """Create statistics in which a wallet has one call, so that any index that begins with the wallet seems good."""
    renew("billing_reservation", "billing_credit_lot")
    with connection.cursor() as cursor:
        for statement in (WALLETS, CALLS, "ANALYZE billing_reservation", "SET LOCAL enable_seqscan = off"):
            cursor.execute(statement)


def plan_of(query: str) -> str:
    with connection.cursor() as cursor:
        cursor.execute(f"EXPLAIN {query}")
        return "\n".join(row[0] for row in cursor.fetchall())


@pytest.mark.usefixtures("small_wallets")
def test_an_idempotency_key_is_looked_up_by_the_index_of_keys() -> None:
    plan = plan_of(LOOK_UP)
    assert "reservation_one_per_key" in plan
    assert "reservation_of_wallet" not in plan


@pytest.mark.usefixtures("small_wallets")
def test_the_newest_calls_are_read_off_the_index_of_their_wallet() -> None:
    assert "reservation_of_wallet" in newest(("account", "did:web:1"), 10).explain()


CREDITS = """
INSERT INTO billing_credit_lot (
  id, wallet_id, product, granted_microusd, remaining_microusd, held_microusd, expires_at, source_kind, source_key)
SELECT 'crd_' || n, 'wal_1', CASE WHEN n % 2 = 0 THEN 'studio' END, 1, 1, 0, now() + n * interval '1 minute', 'test',
       'key_' || n
  FROM generate_series(1, 5000) n
"""
SPENDING_ORDER = """
SELECT l.id FROM billing_credit_lot l
 WHERE l.wallet_id = 'wal_1' AND l.closed_at IS NULL AND l.remaining_microusd > l.held_microusd
   AND (l.expires_at IS NULL OR l.expires_at > now()) AND (l.product IS NULL OR l.product = 'studio')
 ORDER BY l.product IS NULL, l.expires_at NULLS LAST, l.id LIMIT 64
"""


@pytest.mark.usefixtures("small_wallets")
@pytest.mark.parametrize("analyzed", [False, True])
def test_a_hold_reads_credits_off_their_index_in_the_order_of_spending(analyzed: bool) -> None:
    with connection.cursor() as cursor:
        cursor.execute(CREDITS)
        if analyzed:
            cursor.execute("ANALYZE billing_credit_lot")
    plan = plan_of(SPENDING_ORDER)
    assert "lot_open" in plan
    assert "Sort" not in plan


OPEN_CALLS = """
INSERT INTO billing_reservation (
  id, wallet_id, actor_did, route, model, replayable, state, max_cost_microusd, hold_microusd, cash_held_microusd,
  price_version_id, created_at, dispatched_at, deadline_at, overrun_microusd, review_reason,
  next_look_up_at)
SELECT 'use_open_' || n, 'wal_1', 'did:web:a', 'chat.completions', 'fast', false, state, 1, 1, 1, 1, at, at, at, 0,
       CASE state WHEN 'review' THEN 'upstream_timeout' END, CASE state WHEN 'review' THEN at END
  FROM generate_series(1, 4000) n,
       LATERAL (SELECT CASE WHEN n % 4 = 0 THEN 'review' ELSE 'dispatched' END AS state,
                       now() - n * interval '1 minute' AS at) sent
"""


@pytest.fixture
def open_calls(small_wallets: None) -> None:
    """Create a thousand calls in review among others that are in progress."""
    with connection.cursor() as cursor:
        cursor.execute(OPEN_CALLS)
        cursor.execute("ANALYZE billing_reservation")


@pytest.mark.usefixtures("open_calls")
@pytest.mark.parametrize(
    "calls",
    [
        reviews.delivered(looked_up=False),
        reviews.delivered(looked_up=True),
        reviews.unresolved(timezone.now() - timedelta(hours=1), looked_up=True),
    ],
)
def test_calls_in_review_are_read_off_their_own_index_page_by_page(calls: "QuerySet[Any]") -> None:
    plan = calls[:500].explain()
    assert "reservation_in_review" in plan, plan
    assert "Sort" not in plan


BUDGETS = """
INSERT INTO billing_budget (id, wallet_id, scope, membership_id, limit_microusd, period, period_start)
SELECT 'bud_' || n || period, 'wal_1', CASE n WHEN 0 THEN 'org' ELSE 'member' END, CASE WHEN n > 0 THEN 'mem_' || n END, 1,
       period, date_trunc(period, now() AT TIME ZONE 'UTC')
  FROM generate_series(0, 1000) n, unnest(ARRAY['day', 'week', 'month']) period
"""
MATCHING = """
SELECT b.id FROM billing_budget b
 WHERE b.wallet_id = 'wal_1' AND (b.product IS NULL OR b.product = 'studio')
   AND (b.membership_id IS NULL OR b.membership_id = 'mem_7') AND (b.client_id IS NULL OR b.client_id = 'https://app.example')
"""


def test_a_call_reads_no_other_members_budgets() -> None:
    renew("billing_budget")
    with connection.cursor() as cursor:
        for statement in (WALLETS, BUDGETS, "ANALYZE billing_budget"):
            cursor.execute(statement)
    assert plan_of(MATCHING).count("budget_one_per_period") == 2
