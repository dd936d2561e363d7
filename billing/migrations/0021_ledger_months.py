"""Adds the register of months whose old calls have tables of their own."""

import django.db.models.functions.datetime
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("billing", "0020_record_when_the_match_writes"),
    ]

    operations = [
        migrations.CreateModel(
            name="LedgerMonth",
            fields=[
                ("month", models.DateField(primary_key=True, serialize=False)),
                ("created_at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
            ],
            options={
                "db_table": "billing_ledger_month",
            },
        ),
    ]
