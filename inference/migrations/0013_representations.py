"""What upstreams' answers told of their representations."""

from django.db import migrations, models

from billing.models.fields import KeyField


class Migration(migrations.Migration):
    dependencies = [("inference", "0012_help_texts")]

    operations = [
        migrations.CreateModel(
            name="Representation",
            fields=[
                ("configuration", KeyField(db_collation="C", primary_key=True, serialize=False)),
                ("revision", KeyField(db_collation="C")),
                ("dimensions", models.PositiveIntegerField()),
                ("normalized", models.BooleanField()),
                ("answered_at", models.DateTimeField()),
            ],
            options={"db_table": "inference_representation"},
        ),
    ]
