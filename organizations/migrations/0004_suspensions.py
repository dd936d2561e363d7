"""Lets operators suspend organizations. The columns are null or have a constant default, which takes milliseconds."""

from django.db import migrations, models

from gateway.core.database.migrations import RestartableMigration


class Migration(RestartableMigration):
    dependencies = [("organizations", "0003_what_operators_find")]

    operations = [
        migrations.AlterModelOptions(
            name="organization",
            options={"permissions": [("suspend_organization", "Can suspend organizations")]},
        ),
        migrations.AddField("organization", "suspended_at", models.DateTimeField(blank=True, null=True)),
        migrations.AddField("organization", "suspension_text", models.TextField(db_default="")),
    ]
