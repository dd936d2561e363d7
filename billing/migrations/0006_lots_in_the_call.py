"""Fewer and smaller statements a call: credits held in the call's own row, sent with its hold, triggers for checks."""

import django.contrib.postgres.fields
from django.db import migrations

import billing.models.fields

MOVE = """
UPDATE billing_reservation r
   SET lot_ids = a.ids, lot_amounts_microusd = a.amounts
  FROM (SELECT reservation_id, array_agg(lot_id ORDER BY position) AS ids,
               array_agg(amount_microusd ORDER BY position) AS amounts
          FROM billing_lot_allocation GROUP BY reservation_id) a
 WHERE a.reservation_id = r.id
"""

# Functions that are gone, or have other parameters now, which to PostgreSQL is another function.
FORMER = """
ALTER TABLE billing_reservation DROP CONSTRAINT IF EXISTS reservation_is_sound;
DROP FUNCTION IF EXISTS billing_reservation_is_sound(
  text, bigint, bigint, bigint, bigint, bigint, timestamptz, timestamptz, timestamptz, boolean, boolean);
DROP FUNCTION IF EXISTS billing_reserve(
  text, text, text, text, text, text, text, text, text, text, text, bytea, bigint, bigint, bigint, boolean,
  timestamptz);
DROP FUNCTION IF EXISTS billing_flush();
"""

CHECKS = {
    "budget": ("budget_subject_fits_scope", "budget_amounts_not_negative"),
    "creditlot": (
        "lot_grant_positive",
        "lot_held_within_remaining_within_granted",
        "lot_closed_when_nothing_remains",
    ),
    "transfer": ("transfer_amount_positive", "transfer_between_two_accounts"),
    "usagerecord": ("usage_basis_known", "usage_charge_not_negative"),
    "wallet": ("wallet_owner_kind_known", "wallet_holds_only_what_is_there", "wallet_debt_not_negative"),
}


class Migration(migrations.Migration):
    dependencies = [("billing", "0005_payments")]

    operations = [
        migrations.AddField(
            "reservation",
            "lot_ids",
            django.contrib.postgres.fields.ArrayField(billing.models.fields.KeyField(db_collation="C"), null=True),
        ),
        migrations.AddField(
            "reservation",
            "lot_amounts_microusd",
            django.contrib.postgres.fields.ArrayField(billing.models.fields.MicrousdField(), null=True),
        ),
        migrations.RunSQL(MOVE, migrations.RunSQL.noop),
        migrations.DeleteModel("LotAllocation"),
        migrations.RunSQL(FORMER, migrations.RunSQL.noop),
        *(migrations.RemoveConstraint(model, name) for model, names in CHECKS.items() for name in names),
    ]
