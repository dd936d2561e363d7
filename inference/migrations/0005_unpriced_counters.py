"""Adds the counters of usages without a price of their own, of which the operator is told once a day."""

import django.db.models.deletion
from django.db import migrations, models

import billing.models.fields


class Migration(migrations.Migration):
    dependencies = [("inference", "0004_price_proposals")]

    operations = [
        migrations.CreateModel(
            name="UnpricedCounter",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("model", billing.models.fields.KeyField(db_collation="C")),
                ("counter", billing.models.fields.KeyField(db_collation="C")),
                ("told_on", models.DateField()),
                (
                    "upstream",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="inference.upstream",
                    ),
                ),
            ],
            options={
                "db_table": "inference_unpriced_counter",
                "constraints": [
                    models.UniqueConstraint(fields=("upstream", "model", "counter"), name="unpriced_counter_unique")
                ],
            },
        ),
    ]
