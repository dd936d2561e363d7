"""Adds the indexes of old invitations that still have an email address, and of a seat's intervals that reach into a month.

The second serves the foreign key as well, whose own is dropped by name: only databases of version 0.1 have it.
"""

from django.db import migrations, models
from django.db.models import Q
from django.db.models.functions import Coalesce

from gateway.core.database.migrations import RestartableMigration

FOREIGN_KEY = "organizations_seatinterval_seat_id_30c66328"


class Migration(RestartableMigration):
    replaces = [
        ("organizations", "0003_audit_log"),
        ("organizations", "0004_index_invitations_with_email"),
        ("organizations", "0005_seat_intervals_by_end"),
    ]
    dependencies = [("organizations", "0001_initial")]

    operations = [
        migrations.AddIndex(
            "invitation",
            models.Index(fields=["created_at"], condition=Q(email__isnull=False), name="invitation_with_email"),
        ),
        migrations.RunSQL(
            f"DROP INDEX IF EXISTS {FOREIGN_KEY}",
            f"CREATE INDEX {FOREIGN_KEY} ON organizations_seatinterval (seat_id)",
        ),
        migrations.AddIndex(
            "seatinterval",
            models.Index("seat", Coalesce("ended_at", models.Value("infinity")), name="seat_interval_by_end"),
        ),
    ]
