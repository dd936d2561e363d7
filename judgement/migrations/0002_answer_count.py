"""Adds the counts of answers."""

from django.db import migrations, models
from django.db.models import Q

from gateway.core.database.migrations import RestartableMigration


class Migration(RestartableMigration):
    replaces = [
        ("judgement", "0002_help_texts"),
        ("judgement", "0003_answer_count"),
    ]
    dependencies = [("judgement", "0001_initial")]

    operations = [
        migrations.CreateModel(
            name="AnswerCount",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("identity", models.TextField()),
                ("kind", models.TextField()),
                ("day", models.DateField()),
                ("bucket", models.SmallIntegerField()),
                ("shard", models.SmallIntegerField()),
                ("count", models.BigIntegerField()),
            ],
            options={
                "verbose_name": "judgement answer count",
                "verbose_name_plural": "judgement answers",
                "constraints": [
                    models.UniqueConstraint(
                        fields=("day", "identity", "kind", "bucket", "shard"), name="judgement_answer_count_once"
                    ),
                    models.CheckConstraint(
                        condition=Q(bucket__gte=0, bucket__lte=9), name="judgement_answer_count_tenth"
                    ),
                ],
            },
        ),
    ]
