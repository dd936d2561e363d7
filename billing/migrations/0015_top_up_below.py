"""Lets a wallet's row say below which worth an automatic top-up is due.

The column is null, which takes milliseconds. In a migration of its own, so that no two tables are locked at once.
"""

from django.db import migrations

from billing.models.fields import MicrousdField
from gateway.core.database.migrations import RestartableMigration


class Migration(RestartableMigration):
    dependencies = [("billing", "0014_budget_alerts")]

    operations = [migrations.AddField("wallet", "top_up_below_microusd", MicrousdField(null=True))]
