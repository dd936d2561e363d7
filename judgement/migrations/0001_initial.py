"""Makes the tables of version 0.1."""

from django.db import migrations, models
from django.db.models import Q

from gateway.core.database.migrations import RestartableMigration


class Migration(RestartableMigration):
    initial = True
    dependencies = [("inference", "0001_initial")]

    operations = [
        migrations.CreateModel(
            name="JudgementFallback",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "source",
                    models.OneToOneField(
                        "inference.alias", models.CASCADE, related_name="judgement_fallback", verbose_name="from"
                    ),
                ),
                ("target", models.ForeignKey("inference.alias", models.CASCADE, related_name="+", verbose_name="to")),
            ],
            options={
                "constraints": [
                    models.CheckConstraint(condition=~Q(source=models.F("target")), name="judgement_fallback_elsewhere")
                ]
            },
        ),
        migrations.CreateModel(
            name="JudgementSettings",
            fields=[
                ("id", models.SmallIntegerField(default=1, editable=False, primary_key=True, serialize=False)),
                (
                    "text_backend",
                    models.ForeignKey(
                        "inference.alias",
                        models.PROTECT,
                        blank=True,
                        help_text="The backend that the alias judgement selects.",
                        null=True,
                        related_name="+",
                    ),
                ),
                (
                    "vision_backend",
                    models.ForeignKey(
                        "inference.alias",
                        models.PROTECT,
                        blank=True,
                        help_text="The backend that the alias judgement-vision selects.",
                        null=True,
                        related_name="+",
                    ),
                ),
            ],
            options={
                "verbose_name": "judgement settings",
                "verbose_name_plural": "judgement settings",
                "constraints": [models.CheckConstraint(condition=Q(id=1), name="judgement_settings_single")],
            },
        ),
    ]
