"""Ends the state of a hold that is not sent yet: a call counts as sent with its hold.

What is left in it is released, as the reaper would have done: the hold goes back to balance, credits and budgets, and the
idempotency key is free. What a refund waited for in such a credit is repaid by `billing.tasks.reconcile_payments`.
"""

from django.db import migrations, models

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

# Functions that are gone, or have other parameters now, which to PostgreSQL is another function.
FORMER = """
DROP FUNCTION IF EXISTS billing_dispatch(text, timestamptz, text);
DROP FUNCTION IF EXISTS billing_take_back(text, text, bigint, text, timestamptz);
"""

STATES = [("dispatched", "Dispatched"), ("review", "Review"), ("settled", "Settled"), ("released", "Released")]


class Migration(migrations.Migration):
    dependencies = [("billing", "0010_lighter_guards")]

    operations = [
        migrations.RunSQL(RELEASE, migrations.RunSQL.noop),
        migrations.RunSQL(FORMER, migrations.RunSQL.noop),
        migrations.AlterField("reservation", "state", models.TextField(choices=STATES)),
    ]
