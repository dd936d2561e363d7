"""Adds the days of use, into which a job sums closed calls up, and keeps the index by closing time summarized.

A block range that no summary covers yet is read by every look-up, so the server is told to summarize each as it fills.
"""

import django.db.models.deletion
import django.db.models.functions.datetime
from django.contrib.postgres.indexes import BrinIndex
from django.db import migrations, models

import billing.models.fields

SUMMARIZED = BrinIndex(fields=["closed_at"], name="reservation_closed", pages_per_range=32, autosummarize=True)


class Migration(migrations.Migration):
    dependencies = [
        ("billing", "0014_seat_invoices"),
    ]

    operations = [
        migrations.CreateModel(
            name="UsageHorizon",
            fields=[
                ("id", models.SmallIntegerField(primary_key=True, serialize=False)),
                ("ends_at", models.DateTimeField()),
                ("calls", models.BigIntegerField()),
                ("moved_at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
            ],
            options={
                "db_table": "billing_usage_horizon",
                "constraints": [models.CheckConstraint(condition=models.Q(("id", 1)), name="usage_horizon_is_one")],
            },
        ),
        migrations.CreateModel(
            name="UsageSubject",
            fields=[
                ("id", models.BigAutoField(primary_key=True, serialize=False)),
                ("product", billing.models.fields.KeyField(db_collation="C", null=True)),
                ("membership_id", billing.models.fields.KeyField(db_collation="C", null=True)),
                ("actor_did", billing.models.fields.KeyField(db_collation="C")),
                ("model", billing.models.fields.KeyField(db_collation="C")),
                (
                    "wallet",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="billing.wallet",
                    ),
                ),
            ],
            options={
                "db_table": "billing_usage_subject",
                "constraints": [
                    models.UniqueConstraint(
                        fields=("wallet", "product", "membership_id", "actor_did", "model"),
                        name="usage_subject_once",
                        nulls_distinct=False,
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="UsageDay",
            fields=[
                (
                    "pk",
                    models.CompositePrimaryKey(
                        "subject_id",
                        "closed_on",
                        "begun_on",
                        blank=True,
                        editable=False,
                        primary_key=True,
                        serialize=False,
                    ),
                ),
                (
                    "subject",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="days",
                        to="billing.usagesubject",
                    ),
                ),
                ("closed_on", models.DateField()),
                ("begun_on", models.DateField()),
                ("calls", models.BigIntegerField()),
                ("input_tokens", models.BigIntegerField()),
                ("output_tokens", models.BigIntegerField()),
                ("charges", models.BigIntegerField()),
                ("charged_microusd", billing.models.fields.MicrousdField()),
            ],
            options={
                "db_table": "billing_usage_day",
                "indexes": [
                    models.Index(
                        fields=["subject", "begun_on"],
                        name="usage_day_of_late_calls",
                        condition=models.Q(("closed_on__gt", models.F("begun_on"))),
                    )
                ],
            },
        ),
        migrations.SeparateDatabaseAndState(
            database_operations=[
                migrations.RunSQL(
                    "ALTER INDEX reservation_closed SET (autosummarize = on)",
                    "ALTER INDEX reservation_closed RESET (autosummarize)",
                )
            ],
            state_operations=[
                migrations.RemoveIndex("reservation", "reservation_closed"),
                migrations.AddIndex("reservation", SUMMARIZED),
            ],
        ),
    ]
