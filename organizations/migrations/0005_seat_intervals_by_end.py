"""Lets a month's report find a seat's intervals that reach into the month, and not read all that the seat ever had.

The new index serves the foreign key as well. Its own is dropped by name: Django would drop and add the constraint too,
and lock the seats for that.
"""

from django.db import migrations, models
from django.db.models.deletion import PROTECT
from django.db.models.functions import Coalesce

FOREIGN_KEY = "organizations_seatinterval_seat_id_30c66328"


class Migration(migrations.Migration):
    dependencies = [("organizations", "0004_index_invitations_with_email")]

    operations = [
        migrations.RunSQL(
            f"DROP INDEX IF EXISTS {FOREIGN_KEY}",
            f"CREATE INDEX {FOREIGN_KEY} ON organizations_seatinterval (seat_id)",
            state_operations=[
                migrations.AlterField(
                    model_name="seatinterval",
                    name="seat",
                    field=models.ForeignKey(
                        db_index=False, on_delete=PROTECT, related_name="intervals", to="organizations.seat"
                    ),
                )
            ],
        ),
        migrations.AddIndex(
            model_name="seatinterval",
            index=models.Index("seat", Coalesce("ended_at", models.Value("infinity")), name="seat_interval_by_end"),
        ),
    ]
