"""What calls cost the operator: dated costs of deployments, the cost of a call, and sums of margins."""

from django.contrib.postgres.fields import ArrayField
from django.db import migrations, models
from django.db.models.functions import Now

from billing.models.fields import KeyField, MicrousdField
from gateway.core.database.migrations import RestartableMigration


class Migration(RestartableMigration):
    dependencies = [("billing", "0006_budget_periods")]

    operations = [
        migrations.CreateModel(
            name="CostVersion",
            fields=[
                ("id", models.BigAutoField(primary_key=True, serialize=False)),
                ("deployment", KeyField()),
                ("components", models.JSONField()),
                ("effective_at", models.DateTimeField(db_default=Now())),
            ],
            options={
                "verbose_name": "cost",
                "db_table": "billing_cost_version",
                "constraints": [
                    models.UniqueConstraint(fields=("deployment", "effective_at"), name="cost_one_per_instant")
                ],
            },
        ),
        migrations.CreateModel(
            name="MarginDay",
            fields=[
                ("id", models.BigAutoField(primary_key=True, serialize=False)),
                ("closed_on", models.DateField()),
                ("model", KeyField()),
                ("product", KeyField(null=True)),
                ("deployment", KeyField(null=True)),
                ("calls", models.BigIntegerField()),
                ("charged_microusd", MicrousdField()),
                ("cost_microusd", MicrousdField()),
                ("uncosted_calls", models.BigIntegerField()),
                ("uncosted_charged_microusd", MicrousdField()),
            ],
            options={
                "verbose_name_plural": "margins",
                "db_table": "billing_margin_day",
                "constraints": [
                    models.UniqueConstraint(
                        fields=("closed_on", "model", "product", "deployment"),
                        name="margin_day_once",
                        nulls_distinct=False,
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="ModelMargin",
            fields=[
                ("model", KeyField(primary_key=True, serialize=False)),
                ("margins_microusd", ArrayField(MicrousdField())),
                ("negative_since", models.DateTimeField(null=True)),
            ],
            options={"db_table": "billing_model_margin"},
        ),
        migrations.AddField("usagehorizon", "margins_begin_at", models.DateTimeField(null=True)),
        migrations.AddField("usagerecord", "cost_microusd", MicrousdField(null=True)),
        migrations.AddField(
            "usagerecord",
            "cost_version",
            models.ForeignKey("billing.costversion", models.DO_NOTHING, db_constraint=False, db_index=False, null=True),
        ),
    ]
