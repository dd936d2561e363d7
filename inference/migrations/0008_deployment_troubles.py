"""Adds the deployments that fail."""

from django.db import migrations, models

import billing.models.fields


class Migration(migrations.Migration):
    dependencies = [("inference", "0007_limits_of_a_call")]

    operations = [
        migrations.CreateModel(
            name="DeploymentTrouble",
            fields=[
                ("deployment", billing.models.fields.KeyField(db_collation="C", primary_key=True, serialize=False)),
                ("cause", models.TextField()),
                ("failures", models.BigIntegerField()),
                ("since", models.DateTimeField()),
                ("last_at", models.DateTimeField()),
                ("aside_until", models.DateTimeField(null=True)),
            ],
            options={"db_table": "inference_deployment_trouble"},
        ),
    ]
