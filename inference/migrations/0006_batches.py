"""Opens calls, and checks streams in, several in one statement."""

from django.db import migrations

FORMER = """
DROP FUNCTION IF EXISTS inference_open_call(
  bytea, timestamptz, timestamptz, text, text, text, text, text, text, text, text, text, text, text, text, text, bytea,
  bigint, bigint, bigint, boolean, timestamptz);
DROP FUNCTION IF EXISTS inference_check_in(text, jsonb, timestamptz, text, text, text, text);
"""


class Migration(migrations.Migration):
    dependencies = [("billing", "0007_batches"), ("inference", "0005_sent_with_its_hold")]

    operations = [
        migrations.RunSQL(FORMER, migrations.RunSQL.noop),
    ]
