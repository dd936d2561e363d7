"""The database refuses to change or forget what was booked, whoever asks."""

import pytest
from django.db import IntegrityError, connection, transaction

from billing.queries import audit

pytestmark = pytest.mark.django_db

MONEY = [
    "wallet",
    "budget",
    "credit_lot",
    "reservation",
    "transfer",
    "usage_record",
    "loss",
    "price_version",
    "cost_version",
    "checkout",
    "invoice",
    "invoice_line",
    "invoice_payment",
    "credit_note",
    "seat_price",
    "provider_movement",
    "matched_day",
    "payment_difference",
    "difference_closing",
    "seal",
    "takeover",
    "ledger_month",
]
BOOKED = [
    "transfer",
    "usage_record",
    "loss",
    "price_version",
    "cost_version",
    "invoice_line",
    "credit_note",
    "seat_price",
    "provider_movement",
    "payment_difference",
    "difference_closing",
    "seal",
    "takeover",
    "ledger_month",
]

IMPOSSIBLE = [
    "UPDATE billing_wallet SET held_microusd = balance_microusd + 1",
    "UPDATE billing_wallet SET held_microusd = -1",
    "UPDATE billing_wallet SET debt_microusd = -1",
    "UPDATE billing_wallet SET owner_kind = 'team'",
    "UPDATE billing_credit_lot SET held_microusd = remaining_microusd + 1",
    "UPDATE billing_credit_lot SET remaining_microusd = granted_microusd + 1",
    "UPDATE billing_credit_lot SET closed_at = now() WHERE remaining_microusd > 0",
    "UPDATE billing_reservation SET hold_microusd = max_cost_microusd + 1",
    "UPDATE billing_reservation SET cash_held_microusd = hold_microusd + 1",
    "UPDATE billing_reservation SET charge_microusd = hold_microusd + 1 WHERE state = 'settled'",
    "UPDATE billing_reservation SET charge_microusd = NULL WHERE state = 'settled'",
    "UPDATE billing_reservation SET charge_microusd = 0 WHERE state <> 'settled'",
    "UPDATE billing_reservation SET overrun_microusd = 1 WHERE charge_microusd < hold_microusd",
    "UPDATE billing_reservation SET overrun_microusd = 1 WHERE state = 'released'",
    "UPDATE billing_reservation SET closed_at = NULL WHERE state = 'settled'",
    "UPDATE billing_reservation SET closed_at = now() WHERE state = 'review'",
    "UPDATE billing_reservation SET deadline_at = NULL WHERE state = 'dispatched'",
    "UPDATE billing_reservation SET replayable = true WHERE state = 'released'",
    "UPDATE billing_reservation SET replayable = true WHERE idempotency_key IS NULL",
    "UPDATE billing_reservation SET state = 'lost'",
    "UPDATE billing_reservation SET idempotency_key = 'same', wallet_id = 'same' WHERE replayable",
    "UPDATE billing_reservation SET lot_ids = NULL WHERE lot_ids IS NOT NULL",
    "UPDATE billing_reservation SET lot_amounts_microusd = NULL WHERE lot_ids IS NOT NULL",
    "UPDATE billing_budget SET spent_microusd = -1",
    "UPDATE billing_budget SET period = 'year'",
    "UPDATE billing_budget SET period_start = period_start + 1 WHERE period <> 'day'",
    "UPDATE billing_budget SET override_until = now() WHERE override_limit_microusd IS NULL",
    "UPDATE billing_budget SET override_until = NULL WHERE override_limit_microusd IS NOT NULL",
    "UPDATE billing_budget SET override_limit_microusd = -1 WHERE override_limit_microusd IS NOT NULL",
    "UPDATE billing_budget SET client_id = 'https://other.example' WHERE scope = 'account'",
    "UPDATE billing_budget SET client_id = NULL WHERE scope = 'client'",
    "UPDATE billing_invoice SET next_attempt_at = now() WHERE id = :draft_invoice",
    "UPDATE billing_invoice SET paid_at = now() WHERE id = :draft_invoice",
    "UPDATE billing_invoice SET status = 'open' WHERE id = :draft_invoice",
    "UPDATE billing_invoice SET status = 'lost' WHERE id = :draft_invoice",
    "UPDATE billing_invoice_payment SET status = 'lost' WHERE status <> 'failed'",
]

BACKWARDS = [
    "UPDATE billing_wallet SET has_budgets = false WHERE has_budgets",
    "UPDATE billing_reservation SET state = 'dispatched', closed_at = NULL, charge_microusd = NULL WHERE id = :paid",
    "UPDATE billing_reservation SET state = 'released', charge_microusd = NULL, replayable = false WHERE id = :paid",
    "UPDATE billing_reservation SET state = 'settled', charge_microusd = 0 WHERE id = :released",
    "UPDATE billing_reservation SET state = 'dispatched', closed_at = NULL WHERE id = :released",
    "UPDATE billing_reservation SET replayable = true WHERE id = :released",
    "UPDATE billing_reservation SET state = 'dispatched' WHERE id = :reviewed",
    "UPDATE billing_reservation SET closed_at = closed_at + interval '1 second' WHERE id = :paid",
    "UPDATE billing_reservation SET charge_microusd = charge_microusd - 1 WHERE id = :paid",
    "UPDATE billing_reservation SET resolution = 'operator' WHERE id = :paid",
    "UPDATE billing_reservation SET evidence = '{}' WHERE id = :paid",
    "UPDATE billing_reservation SET hold_microusd = hold_microusd WHERE id = :open",
    "UPDATE billing_reservation SET max_cost_microusd = max_cost_microusd + 1 WHERE id = :open",
    "UPDATE billing_reservation SET wallet_id = :other_wallet WHERE id = :open",
    "UPDATE billing_reservation SET price_version_id = -1 WHERE id = :open",
    "UPDATE billing_reservation SET created_at = now() WHERE id = :open",
    "UPDATE billing_budget SET period_start = period_start - interval '1 week' WHERE period = 'week'",
    "UPDATE billing_budget SET wallet_id = :other_wallet",
    "UPDATE billing_budget SET period = 'day'",
    "UPDATE billing_budget SET client_id = 'https://other.example' WHERE scope = 'client'",
    "UPDATE billing_budget SET membership_id = 'mem_2' WHERE scope = 'member_product'",
    "UPDATE billing_wallet SET owner_key = 'did:web:somebody.example' WHERE id = :other_wallet",
    "UPDATE billing_credit_lot SET expires_at = NULL WHERE id = :expiring_lot",
    "UPDATE billing_credit_lot SET wallet_id = :other_wallet WHERE id = :expiring_lot",
    "UPDATE billing_credit_lot SET granted_microusd = 1000 WHERE id = :expiring_lot",
    "UPDATE billing_credit_lot SET closed_at = NULL, remaining_microusd = 1 WHERE id = :expired_lot",
    "UPDATE billing_checkout SET status = 'open', paid_at = NULL, taken_back_microusd = 0 WHERE id = :checkout",
    "UPDATE billing_checkout SET amount_microusd = amount_microusd + 1 WHERE id = :checkout",
    "UPDATE billing_checkout SET owner_key = 'did:web:somebody.example' WHERE id = :checkout",
    "UPDATE billing_invoice SET total_microusd = total_microusd + 1 WHERE id = :draft_invoice",
    "UPDATE billing_invoice SET due_microusd = 0 WHERE id = :draft_invoice",
    "UPDATE billing_invoice SET org_id = 'org_acme' WHERE id = :draft_invoice",
    "UPDATE billing_invoice SET status = 'open', paid_at = NULL WHERE id = :paid_invoice",
    "UPDATE billing_invoice SET status = 'void', paid_at = NULL, voided_at = now(), void_reason = 'r' WHERE id = :paid_invoice",
    "UPDATE billing_invoice SET status = 'open' WHERE id = :past_due_invoice",
    "UPDATE billing_invoice SET status = 'paid', paid_at = now(), next_attempt_at = NULL WHERE id = :past_due_invoice",
    "UPDATE billing_invoice SET serial = 9 WHERE id = :past_due_invoice",
    "UPDATE billing_invoice SET issued_at = now() - interval '1 day' WHERE id = :past_due_invoice",
    "UPDATE billing_invoice SET status = 'open', serial = 5, issued_at = now() WHERE id = :draft_invoice",
    "UPDATE billing_invoice_payment SET status = 'creating' WHERE invoice_id = :paid_invoice",
    "UPDATE billing_invoice_payment SET status = 'succeeded', failure_code = NULL WHERE status = 'failed'",
    "UPDATE billing_invoice_payment SET payment_ref = 'pi_other' WHERE invoice_id = :paid_invoice",
    "UPDATE billing_invoice_payment SET amount_microusd = amount_microusd + 1",
    "UPDATE billing_matched_day SET matched_at = now() WHERE matched_at IS NOT NULL",
    "UPDATE billing_matched_day SET matched_at = NULL",
    "UPDATE billing_matched_day SET movements = 0 WHERE matched_at IS NULL",
    "INSERT INTO billing_invoice_line (invoice_id, product, price_microusd, seat_days, amount_microusd)"
    " VALUES (:paid_invoice, 'courier', 1, 1, 1)",
    # Temporary tables have the names of those that the guard reads.
    "CREATE TEMP TABLE billing_invoice AS SELECT id, 'draft' AS status FROM public.billing_invoice;"
    " INSERT INTO billing_invoice_line (invoice_id, product, price_microusd, seat_days, amount_microusd)"
    " VALUES (:paid_invoice, 'courier', 1, 1, 1)",
    "CREATE TEMP TABLE billing_invoice_payment AS SELECT id AS invoice_id, 'succeeded' AS status, due_microusd AS amount_microusd"
    " FROM billing_invoice; UPDATE billing_invoice SET status = 'paid', paid_at = now(), next_attempt_at = NULL"
    " WHERE id = :past_due_invoice",
    "INSERT INTO billing_invoice (id, org_id, status, serial, issued_at, period_start, period_end, total_microusd,"
    " due_microusd, paid_at) VALUES ('inv_x', 'org_x', 'paid', 4, now(), now(), now(), 0, 0, now())",
]


def refused(statement: str, ledger: dict[str, str], words: str) -> None:
    """Run it, see it refused with these words, and find the ledger as sound as before."""
    for name in sorted(ledger, key=len, reverse=True):
        statement = statement.replace(f":{name}", f"'{ledger[name]}'")
    with connection.cursor() as cursor:
        cursor.execute(
            "SET CONSTRAINTS ALL IMMEDIATE"
        )  # else what this transaction wrote keeps a table from being emptied
        with pytest.raises(IntegrityError, match=words), transaction.atomic():
            cursor.execute(statement)
    assert audit.findings() == []


@pytest.mark.parametrize("table", MONEY)
@pytest.mark.parametrize("statement", ["TRUNCATE billing_{} CASCADE", "DELETE FROM billing_{}"])
def test_refuses_to_forget(ledger: dict[str, str], table: str, statement: str) -> None:
    words = "never changed or deleted|is still referenced from table .billing_loss."
    refused(statement.format(table), ledger, words)


@pytest.mark.parametrize("table", BOOKED)
def test_refuses_to_change_what_was_booked(ledger: dict[str, str], table: str) -> None:
    column = {"usage_record": "basis", "takeover": "model", "ledger_month": "month"}.get(table, "id")
    refused(f"UPDATE billing_{table} SET {column} = {column}", ledger, "never changed or deleted")


@pytest.mark.parametrize("statement", BACKWARDS)
def test_refuses_to_go_back(ledger: dict[str, str], statement: str) -> None:
    refused(statement, ledger, "never|violates check|must begin as a draft")


def test_functions_of_triggers_that_name_tables_have_their_own_search_path(ledger: dict[str, str]) -> None:
    """A temporary table is found first otherwise, and whoever may make one decides what a guard reads."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT DISTINCT p.proname FROM pg_proc p JOIN pg_trigger t ON t.tgfoid = p.oid"
            " WHERE NOT t.tgisinternal AND 'search_path=pg_catalog, public, pg_temp' <> ALL (coalesce(p.proconfig, '{}'))"
            " AND EXISTS (SELECT FROM pg_class c WHERE c.relkind IN ('r', 'v') AND c.relnamespace = 'public'::regnamespace"
            " AND p.prosrc ~ ('(FROM|JOIN|INTO|UPDATE)( ONLY)? ' || c.relname || '\\M'))"
        )
        assert [name for (name,) in cursor.fetchall()] == []


@pytest.mark.parametrize("statement", IMPOSSIBLE)
def test_refuses_wrong_money(ledger: dict[str, str], statement: str) -> None:
    refused(statement, ledger, r"violates (check|unique) constraint|never changed")


def test_lets_go_of_a_key_of_a_closed_call(ledger: dict[str, str]) -> None:
    with connection.cursor() as cursor:
        cursor.execute("UPDATE billing_reservation SET replayable = false WHERE id = %s", [ledger["settled"]])
        assert cursor.rowcount == 1
