"""Counts active accounts by day.

Days before the first run of this version are not counted, unless all of them are recomputed (docs/operations.md).
"""

from django.db import migrations, models

import billing.models.fields


class Migration(migrations.Migration):
    dependencies = [("billing", "0017_auto_top_up")]

    operations = [
        migrations.CreateModel(
            name="ActiveDay",
            fields=[
                ("day", models.DateField(primary_key=True, serialize=False)),
                ("accounts", models.BigIntegerField()),
                ("last_accounts", models.BigIntegerField()),
                ("month_accounts", models.BigIntegerField()),
            ],
            options={"db_table": "billing_active_day"},
        ),
        migrations.CreateModel(
            name="ActiveAccount",
            fields=[
                ("actor_did", billing.models.fields.KeyField(db_collation="C", primary_key=True, serialize=False)),
                ("last_on", models.DateField()),
            ],
            options={"db_table": "billing_active_account"},
        ),
    ]
