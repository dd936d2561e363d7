"""Makes the catalogue of version 0.1: upstreams, aliases, deployments, raw models."""

from django.core.validators import MaxValueValidator, MinValueValidator, RegexValidator
from django.db import migrations, models
from django.db.models import Q

from gateway.core.database.migrations import RestartableMigration
from gateway.core.encryption.fields import EncryptedTextField

IS_NAME = RegexValidator(r"\A[A-Za-z0-9][A-Za-z0-9._:/@-]{0,199}\Z", "Letters, digits and . _ : / @ - only.")


class Migration(RestartableMigration):
    initial = True
    replaces = [
        ("inference", "0002_functions"),
        ("inference", "0003_live_access"),
        ("inference", "0004_deadlines"),
        ("inference", "0005_sent_with_its_hold"),
        ("inference", "0006_batches"),
    ]
    dependencies = [("accounts", "0001_initial")]

    operations = [
        migrations.CreateModel(
            name="Alias",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "name",
                    models.CharField(
                        max_length=200,
                        unique=True,
                        validators=[IS_NAME],
                    ),
                ),
                ("enabled", models.BooleanField(default=True)),
                ("max_output_tokens", models.PositiveIntegerField(blank=True, null=True)),
                ("context_tokens", models.PositiveIntegerField(blank=True, null=True)),
                ("options", models.JSONField(blank=True, default=dict)),
            ],
            options={
                "verbose_name_plural": "aliases",
                "constraints": [
                    models.CheckConstraint(
                        condition=Q(max_output_tokens=None) | Q(max_output_tokens__gt=0),
                        name="alias_max_output_tokens_positive",
                    ),
                    models.CheckConstraint(
                        condition=Q(context_tokens=None) | Q(context_tokens__gt=0), name="alias_context_tokens_positive"
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Upstream",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("name", models.CharField(max_length=128, unique=True)),
                (
                    "adapter",
                    models.CharField(
                        choices=[
                            ("openai", "OpenAI"),
                            ("voyage", "Voyage"),
                            ("cohere", "Cohere"),
                            ("representation", "Representation"),
                            ("judgement", "Judgement"),
                            ("realtime", "Realtime"),
                            ("demo", "Demo"),
                        ],
                        max_length=32,
                    ),
                ),
                ("base_url", models.CharField(blank=True, default="", max_length=500)),
                ("api_key", EncryptedTextField(blank=True, default="")),
                (
                    "timeout_seconds",
                    models.FloatField(default=120.0, validators=[MinValueValidator(0.1), MaxValueValidator(3600)]),
                ),
                (
                    "bills_errors",
                    models.BooleanField(
                        default=False,
                        help_text="The upstream may charge for a call that it answers with an error. Such a call waits for review.",
                    ),
                ),
                ("enabled", models.BooleanField(default=True)),
                ("options", models.JSONField(blank=True, default=dict)),
            ],
            options={
                "constraints": [
                    models.CheckConstraint(condition=Q(timeout_seconds__gt=0), name="upstream_timeout_positive")
                ]
            },
        ),
        migrations.CreateModel(
            name="RawModel",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "model",
                    models.CharField(
                        max_length=200,
                        unique=True,
                        validators=[IS_NAME],
                    ),
                ),
                ("enabled", models.BooleanField(default=True)),
                ("max_output_tokens", models.PositiveIntegerField(blank=True, null=True)),
                ("context_tokens", models.PositiveIntegerField(blank=True, null=True)),
                ("options", models.JSONField(blank=True, default=dict)),
                ("integrations", models.ManyToManyField("accounts.integration", blank=True, related_name="raw_models")),
                ("upstream", models.ForeignKey("inference.upstream", models.PROTECT, related_name="raw_models")),
            ],
        ),
        migrations.CreateModel(
            name="Deployment",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("model", models.CharField(help_text="The upstream's name for the model.", max_length=200)),
                (
                    "priority",
                    models.PositiveIntegerField(
                        default=0, help_text="Deployments with the lowest number are tried first."
                    ),
                ),
                (
                    "weight",
                    models.PositiveIntegerField(
                        default=1, help_text="The share of calls among deployments of the same priority."
                    ),
                ),
                ("enabled", models.BooleanField(default=True)),
                ("alias", models.ForeignKey("inference.alias", models.CASCADE, related_name="deployments")),
                ("upstream", models.ForeignKey("inference.upstream", models.PROTECT, related_name="deployments")),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=("alias", "upstream", "model"), name="deployment_once_per_alias"),
                    models.CheckConstraint(condition=Q(weight__gt=0), name="deployment_weight_positive"),
                ]
            },
        ),
    ]
