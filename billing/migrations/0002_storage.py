"""Tunes how the hot tables are stored."""

from django.db import migrations

# Room on each page lets an update stay on it without touching an index (heap-only); frequent small vacuums keep a row
# that is updated a thousand times a second cheap to find. Answers are kept for a day and are mostly text that was
# compressed or encoded before: not worth compressing again.
STORAGE = """
ALTER TABLE billing_wallet SET (
  fillfactor = 30, autovacuum_vacuum_scale_factor = 0.0, autovacuum_vacuum_threshold = 5000,
  autovacuum_vacuum_cost_delay = 0);
ALTER TABLE billing_budget SET (
  fillfactor = 30, autovacuum_vacuum_scale_factor = 0.0, autovacuum_vacuum_threshold = 5000,
  autovacuum_vacuum_cost_delay = 0);
ALTER TABLE billing_credit_lot SET (
  fillfactor = 50, autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_cost_delay = 0);
ALTER TABLE billing_reservation SET (
  fillfactor = 60, autovacuum_vacuum_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.05);
ALTER TABLE billing_stored_replay ALTER COLUMN body SET STORAGE EXTERNAL;
"""


class Migration(migrations.Migration):
    dependencies = [("billing", "0001_initial")]

    operations = [migrations.RunSQL(STORAGE, migrations.RunSQL.noop)]
