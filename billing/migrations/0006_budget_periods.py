"""Lets budgets count days and weeks, be overridden for a time, and be a person's own, in total or for one app.

Rows that processes of the version before insert are those of months. The constraint that one subject has one budget gives way to one
for each period in the same transaction. The table has a row for each subject that somebody limited, so this takes
milliseconds.
"""

from django.db import migrations, models

from billing.models.fields import KeyField, MicrousdField
from gateway.core.database.migrations import RestartableMigration

SCOPES = ("org", "product", "member", "member_product", "account", "client")


class Migration(RestartableMigration):
    dependencies = [("billing", "0005_prices_in_full")]

    operations = [
        migrations.AddField(
            "budget",
            "period",
            models.TextField(choices=[("day", "day"), ("week", "week"), ("month", "month")], db_default="month"),
        ),
        migrations.AddField("budget", "client_id", KeyField(null=True)),
        migrations.AddField("budget", "override_limit_microusd", MicrousdField(null=True)),
        migrations.AddField("budget", "override_until", models.DateTimeField(null=True)),
        migrations.AlterField("budget", "scope", models.TextField(choices=[(scope, scope) for scope in SCOPES])),
        migrations.AddConstraint(
            "budget",
            models.UniqueConstraint(
                fields=("wallet", "membership_id", "client_id", "product", "period"),
                name="budget_one_per_period",
                nulls_distinct=False,
            ),
        ),
        migrations.RemoveConstraint("budget", "budget_one_per_subject"),
    ]
