"""Adds the receipts that a new primary of the database lacks, for an operator to resolve."""

import django.db.models.functions.datetime
from django.db import migrations, models

import billing.models.fields
from gateway.core.database.migrations import RestartableMigration


class Migration(RestartableMigration):
    dependencies = [("billing", "0022_suspended_wallets")]

    operations = [
        migrations.CreateModel(
            name="LostReceipt",
            fields=[
                ("usage_id", billing.models.fields.KeyField(db_collation="C", primary_key=True, serialize=False)),
                ("owner_kind", models.TextField()),
                ("owner_key", billing.models.fields.KeyField(db_collation="C")),
                ("charge_microusd", billing.models.fields.MicrousdField(null=True)),
                ("delivered", models.JSONField(blank=True, null=True)),
                ("found_at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                (
                    "outcome",
                    models.TextField(
                        blank=True,
                        choices=[("charged", "Charged otherwise"), ("written_off", "Written off")],
                        null=True,
                    ),
                ),
                ("reason", models.TextField(blank=True, db_default="")),
                ("resolved_by", billing.models.fields.KeyField(blank=True, db_collation="C", null=True)),
                ("resolved_at", models.DateTimeField(blank=True, null=True)),
            ],
            options={
                "db_table": "billing_lost_receipt",
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("outcome__in", ["charged", "written_off"])),
                        name="lost_receipt_outcome_known",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("outcome", None), ("resolved_at", None), ("resolved_by", None)),
                            models.Q(
                                ("outcome__isnull", False),
                                ("resolved_at__isnull", False),
                                ("resolved_by__isnull", False),
                            ),
                            _connector="OR",
                        ),
                        name="lost_receipt_is_resolved_by_somebody",
                    ),
                ],
            },
        ),
    ]
