"""What a busy wallet's look-ups cost does not grow with its calls, whatever the statistics say."""

import pytest
from django.db import connection

from billing.queries.usage import newest

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
    """Have statistics by which a wallet has one call, so that any index that begins with the wallet seems good."""
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
