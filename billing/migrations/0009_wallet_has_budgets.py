"""Marks the wallets that have budgets, so that calls on the others do not look for any.

The trigger comes first, in a transaction of its own: creating it waits for transactions that insert a budget unmarked, which
`MARK` then sees. In one transaction, the two would wait for calls that wait for them.
"""

from django.db import migrations, models

# As in billing/sql/soundness.sql.
FUNCTION = """
CREATE OR REPLACE FUNCTION billing_mark_wallet() RETURNS trigger LANGUAGE plpgsql
SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
  UPDATE billing_wallet w SET has_budgets = true WHERE w.id = NEW.wallet_id AND NOT w.has_budgets;
  RETURN NULL;
END $$
"""
TRIGGER = """
CREATE OR REPLACE TRIGGER budget_marks_wallet AFTER INSERT ON billing_budget
  FOR EACH ROW EXECUTE FUNCTION billing_mark_wallet()
"""
MARK = """
UPDATE billing_wallet w SET has_budgets = true
 WHERE w.id IN (SELECT b.wallet_id FROM billing_budget b) AND NOT w.has_budgets
"""


class Migration(migrations.Migration):
    atomic = False
    dependencies = [("billing", "0008_receipts")]

    operations = [
        migrations.AddField("wallet", "has_budgets", models.BooleanField(db_default=False)),
        migrations.RunSQL(FUNCTION, "DROP FUNCTION IF EXISTS billing_mark_wallet()"),
        migrations.RunSQL(TRIGGER, "DROP TRIGGER IF EXISTS budget_marks_wallet ON billing_budget"),
        migrations.RunSQL(MARK, migrations.RunSQL.noop),
    ]
