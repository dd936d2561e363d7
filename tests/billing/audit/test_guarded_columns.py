"""Of each row of money it is decided which columns may still change; the database refuses a change of any other."""

import pytest
from django.db import connection

pytestmark = pytest.mark.django_db

CHANGING = {
    "billing_wallet": {
        "balance_microusd",
        "held_microusd",
        "debt_microusd",
        "has_budgets",
        "low_balance_microusd",
        "alert_below_microusd",
        "top_up_below_microusd",
        "is_suspended",
    },
    "billing_credit_lot": {"remaining_microusd", "held_microusd", "closed_at"},
    "billing_reservation": {
        "state",
        "deployment",
        "replayable",
        "charge_microusd",
        "overrun_microusd",
        "dispatched_at",
        "deadline_at",
        "closed_at",
        "review_reason",
        "resolution",
        "evidence",
        "next_look_up_at",
    },
    "billing_invoice": {
        "status",
        "serial",
        "issued_at",
        "issue_recorded_at",
        "next_attempt_at",
        "paid_at",
        "voided_at",
        "void_reason",
        "end_recorded_at",
    },
    "billing_invoice_payment": {
        "status",
        "payment_ref",
        "failure_code",
        "failure_reason",
        "checked_at",
        "next_check_at",
        "end_recorded_at",
    },
    "billing_matched_day": {"matched_at", "recorded_at"},
    "billing_lost_receipt": {"outcome", "reason", "resolved_by", "resolved_at"},
}
UNGUARDED = """
SELECT a.attname FROM pg_attribute a
 WHERE a.attrelid = %s::regclass AND a.attnum > 0 AND NOT a.attisdropped
   AND NOT EXISTS (SELECT FROM pg_trigger t WHERE t.tgrelid = a.attrelid AND a.attnum = ANY (t.tgattr)
                                              AND t.tgfoid = 'billing_refuse_change'::regproc)
"""


@pytest.mark.parametrize("table", CHANGING)
def test_a_column_that_is_not_meant_to_change_cannot(table: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute(UNGUARDED, [table])
        assert {name for (name,) in cursor.fetchall()} == CHANGING[table]
