"""Lets the daily totals name the app of a call.

Processes of the version before add calls up without it until the functions of this version are installed.
"""

from django.db import migrations, models

from billing.models.fields import KeyField
from gateway.core.database.migrations import RestartableMigration


class Migration(RestartableMigration):
    dependencies = [("billing", "0009_wallet_has_budgets")]

    operations = [
        migrations.AddField("usagesubject", "client_id", KeyField(null=True)),
        migrations.AddField("usagehorizon", "apps_begin_at", models.DateTimeField(null=True)),
        migrations.AddConstraint(
            "usagesubject",
            models.UniqueConstraint(
                fields=("wallet", "product", "membership_id", "actor_did", "model", "client_id"),
                name="usage_subject_once_per_app",
                nulls_distinct=False,
            ),
        ),
        migrations.RemoveConstraint("usagesubject", "usage_subject_once"),
    ]
