"""Adds the keys that sign receipts."""

from django.db import migrations, models
from django.db.models import Q

from gateway.core.database.migrations import RestartableMigration
from gateway.core.encryption.bound_text import BoundTextField


class Migration(RestartableMigration):
    dependencies = [("accounts", "0002_since_0_1")]

    operations = [
        migrations.CreateModel(
            name="ReceiptKey",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("kid", models.CharField(max_length=64, unique=True)),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("pending", "Pending"),
                            ("active", "Active"),
                            ("retired", "Retired"),
                            ("withdrawn", "Withdrawn"),
                        ],
                        max_length=16,
                    ),
                ),
                ("public_jwk", models.JSONField()),
                ("private_pem", BoundTextField(bound_to=["kid"])),
                ("created_at", models.DateTimeField()),
                ("activated_at", models.DateTimeField(blank=True, null=True)),
                ("retired_at", models.DateTimeField(blank=True, null=True)),
                ("withdrawn_at", models.DateTimeField(blank=True, null=True)),
            ],
            options={
                "db_table": "accounts_receipt_key",
                "constraints": [
                    models.UniqueConstraint(
                        fields=["state"], condition=Q(state="active"), name="accounts_one_active_receipt_key"
                    ),
                    models.UniqueConstraint(
                        fields=["state"], condition=Q(state="pending"), name="accounts_one_pending_receipt_key"
                    ),
                ],
            },
        ),
    ]
