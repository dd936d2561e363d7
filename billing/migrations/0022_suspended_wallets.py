"""Lets a wallet's row say that its organization is suspended.

The column has a constant default, which takes milliseconds. In a migration of its own, so that no two tables are locked at once.
"""

from django.db import migrations, models

from gateway.core.database.migrations import RestartableMigration


class Migration(RestartableMigration):
    dependencies = [("billing", "0021_support_credits")]

    operations = [migrations.AddField("wallet", "is_suspended", models.BooleanField(db_default=False))]
