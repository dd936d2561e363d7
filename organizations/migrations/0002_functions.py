"""Keeps the intervals of one subject from overlapping."""

from django.db import migrations

# The subject is a bigint, compared as a range of one number, so that no extension is needed.
EXCLUSIONS = """
ALTER TABLE organizations_seatinterval ADD CONSTRAINT seat_interval_never_overlaps EXCLUDE USING gist (
    int8range(seat_id, seat_id, '[]') WITH &&, tstzrange(started_at, ended_at) WITH &&
);
ALTER TABLE organizations_entitlementinterval ADD CONSTRAINT entitlement_interval_never_overlaps EXCLUDE USING gist (
    int8range(entitlement_id, entitlement_id, '[]') WITH &&, tstzrange(started_at, ended_at) WITH &&
);
"""


class Migration(migrations.Migration):
    dependencies = [("organizations", "0001_initial")]

    operations = [migrations.RunSQL(EXCLUSIONS, migrations.RunSQL.noop)]
