"""Seals closed rows, and refuses to change or forget what was booked."""

import django.contrib.postgres.indexes
import django.db.models.functions.datetime
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("billing", "0007_batches")]

    operations = [
        migrations.CreateModel(
            name="Seal",
            fields=[
                ("id", models.BigIntegerField(primary_key=True, serialize=False)),
                ("begins_at", models.DateTimeField()),
                ("ends_at", models.DateTimeField()),
                ("contents", models.JSONField()),
                ("chain", models.BinaryField()),
                ("sealed_at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
            ],
            options={"db_table": "billing_seal"},
        ),
        migrations.AddIndex(
            "reservation",
            django.contrib.postgres.indexes.BrinIndex(
                fields=["closed_at"], name="reservation_closed", pages_per_range=32
            ),
        ),
        migrations.AddIndex(
            "transfer",
            django.contrib.postgres.indexes.BrinIndex(
                fields=["created_at"], name="transfer_by_time", pages_per_range=32
            ),
        ),
    ]
