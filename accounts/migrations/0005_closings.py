"""Lets people close their accounts. The row of a closed account is marked in a table of its own, so nothing waits."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

from gateway.core.database.migrations import RestartableMigration


class Migration(RestartableMigration):
    dependencies = [("accounts", "0003_receipt_keys")]

    operations = [
        migrations.CreateModel(
            name="Closing",
            fields=[
                (
                    "account",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.PROTECT,
                        primary_key=True,
                        related_name="closing",
                        serialize=False,
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                ("closed_at", models.DateTimeField()),
                ("erased_at", models.DateTimeField(blank=True, null=True)),
            ],
            options={
                "db_table": "accounts_closing",
                "indexes": [
                    models.Index(
                        fields=["closed_at"], name="closing_to_erase", condition=models.Q(erased_at__isnull=True)
                    )
                ],
            },
        ),
    ]
