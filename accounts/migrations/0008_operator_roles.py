"""Adds the ready groups of operators, and the refusals of each integration."""

import django.db.models.deletion
import django.db.models.functions.datetime
import django.db.models.functions.text
from django.db import migrations, models

from gateway.core.database.migrations import RestartableMigration


class Migration(RestartableMigration):
    dependencies = [
        ("accounts", "0007_what_operators_find"),
        ("auth", "0012_alter_user_first_name_max_length"),
    ]

    operations = [
        migrations.AlterModelOptions(
            name="account",
            options={"permissions": [("suspend_account", "Can suspend accounts that are not operators'")]},
        ),
        migrations.CreateModel(
            name="OperatorRole",
            fields=[
                ("name", models.CharField(max_length=32, primary_key=True, serialize=False)),
                (
                    "group",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE, related_name="role", to="auth.group"
                    ),
                ),
            ],
            options={"db_table": "accounts_operator_role"},
        ),
        migrations.CreateModel(
            name="RefusedAssertion",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("cause", models.CharField(max_length=32)),
                ("count", models.PositiveBigIntegerField()),
                ("latest", models.JSONField(default=list)),
                (
                    "last_at",
                    models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), db_index=True),
                ),
                (
                    "integration",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="refusals",
                        to="accounts.integration",
                    ),
                ),
            ],
            options={
                "verbose_name": "refusal",
                "db_table": "accounts_refused_assertion",
                "constraints": [models.UniqueConstraint(fields=("integration", "cause"), name="refused_one_per_cause")],
            },
        ),
    ]
