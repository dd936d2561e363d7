"""Adds the calls that operators make to a deployment to see whether it works."""

from django.db import migrations, models

import billing.models.fields
from gateway.core.database.migrations import RestartableMigration


class Migration(RestartableMigration):
    dependencies = [("inference", "0009_upstream_keys")]

    operations = [
        migrations.CreateModel(
            name="Trial",
            fields=[
                ("id", billing.models.fields.KeyField(db_collation="C", primary_key=True, serialize=False)),
                ("deployment", billing.models.fields.KeyField(db_collation="C")),
                ("route", models.CharField(max_length=64)),
                ("key", models.CharField(max_length=16)),
                ("operator", billing.models.fields.KeyField(db_collation="C")),
                ("began_at", models.DateTimeField()),
                ("result", models.JSONField(null=True)),
            ],
            options={"indexes": [models.Index(fields=["deployment", "-began_at"], name="trial_of_deployment")]},
        ),
    ]
