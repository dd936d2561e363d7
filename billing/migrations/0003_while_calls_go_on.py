"""Ends the state of a hold that is not sent yet, and finds a member's newest calls without reading the organization's others.

A call counts as sent with its hold. What is left unsent is released, as the reaper would have done: the hold goes back to
balance, credits and budgets, and the idempotency key is free. What a refund waited for in such a credit is repaid by
`billing.tasks.reconcile_payments`. Each operation is a transaction of its own, so that calls go on meanwhile.
"""

from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models
from django.db.models import Q

RELEASE = """
DO $$
DECLARE
  v_call billing_reservation;
BEGIN
  FOR v_call IN
    SELECT r.* FROM billing_reservation r
     WHERE r.closed_at IS NULL AND r.state = 'reserved' ORDER BY r.wallet_id, r.id
  LOOP
    PERFORM 1 FROM billing_wallet w WHERE w.id = v_call.wallet_id FOR NO KEY UPDATE;
    UPDATE billing_reservation r
       SET state = 'released', closed_at = clock_timestamp(), replayable = false, resolution = 'not_dispatched'
     WHERE r.id = v_call.id AND r.state = 'reserved';
    CONTINUE WHEN NOT FOUND;
    UPDATE billing_wallet w SET held_microusd = w.held_microusd - v_call.cash_held_microusd
     WHERE w.id = v_call.wallet_id;
    UPDATE billing_credit_lot l SET held_microusd = l.held_microusd - p.amount
      FROM unnest(v_call.lot_ids, v_call.lot_amounts_microusd) AS p (lot_id, amount)
     WHERE l.id = p.lot_id;
    UPDATE billing_budget b SET held_microusd = b.held_microusd - v_call.hold_microusd
     WHERE v_call.org_id IS NOT NULL AND b.wallet_id = v_call.wallet_id
       AND (b.product IS NULL OR b.product = v_call.product)
       AND (b.membership_id IS NULL OR b.membership_id = v_call.membership_id);
  END LOOP;
END $$;
"""

# What a process that was killed, or a statement that took too long, left of the index.
UNFINISHED = "DROP INDEX CONCURRENTLY IF EXISTS reservation_of_member"

FORMER = "DROP FUNCTION IF EXISTS billing_dispatch(text, timestamptz, text)"


class Migration(migrations.Migration):
    atomic = False
    replaces = [
        ("billing", "0011_every_call_is_sent"),
        ("billing", "0016_calls_of_member"),
    ]
    dependencies = [("billing", "0002_since_0_1")]

    operations = [
        migrations.RunSQL(RELEASE, migrations.RunSQL.noop, elidable=True),
        migrations.RunSQL(FORMER, migrations.RunSQL.noop, elidable=True),
        migrations.RunSQL(UNFINISHED, migrations.RunSQL.noop, elidable=True),
        AddIndexConcurrently(
            "call",
            models.Index(
                fields=["membership_id", "created_at"],
                condition=Q(membership_id__isnull=False),
                name="reservation_of_member",
            ),
        ),
    ]
