"""Closes calls in batches; no transaction commits without waiting for the disk any more."""

from django.db import migrations

# Functions that have other parameters now, which to PostgreSQL are other functions.
FORMER = """
DROP FUNCTION IF EXISTS billing_reserve(
  text, text, text, text, text, text, text, text, text, text, text, bytea, bigint, bigint, bigint, timestamptz, boolean,
  timestamptz);
DROP FUNCTION IF EXISTS billing_settle(
  text, bigint, text, jsonb, integer, jsonb, bytea, text, text, text[], boolean, timestamptz);
DROP FUNCTION IF EXISTS billing_release(text, text, boolean, text[], boolean, timestamptz);
"""


class Migration(migrations.Migration):
    dependencies = [("billing", "0006_lots_in_the_call")]

    operations = [
        migrations.RunSQL(FORMER, migrations.RunSQL.noop),
    ]
