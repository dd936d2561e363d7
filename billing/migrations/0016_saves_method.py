"""Lets a top-up save the payment method that pays it. The column has a constant default, which takes milliseconds."""

from django.db import migrations, models

from gateway.core.database.migrations import RestartableMigration


class Migration(RestartableMigration):
    dependencies = [("billing", "0015_top_up_below")]

    operations = [migrations.AddField("checkout", "saves_method", models.BooleanField(db_default=False, default=False))]
