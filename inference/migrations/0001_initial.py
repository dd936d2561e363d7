"""Makes the catalogue: upstreams, aliases, deployments, raw models."""

import django.core.validators
import django.db.models.deletion
from django.db import migrations, models

import gateway.core.encryption.fields


class Migration(migrations.Migration):
    initial = True

    dependencies = [
        ("accounts", "0001_initial"),
    ]

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
                        validators=[
                            django.core.validators.RegexValidator(
                                "\\A[A-Za-z0-9][A-Za-z0-9._:/@-]{0,199}\\Z", "Letters, digits and . _ : / @ - only."
                            )
                        ],
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
                        condition=models.Q(("max_output_tokens", None), ("max_output_tokens__gt", 0), _connector="OR"),
                        name="alias_max_output_tokens_positive",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("context_tokens", None), ("context_tokens__gt", 0), _connector="OR"),
                        name="alias_context_tokens_positive",
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
                            ("openai", "Openai"),
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
                ("api_key", gateway.core.encryption.fields.EncryptedTextField(blank=True, default="")),
                (
                    "timeout_seconds",
                    models.FloatField(default=120.0, validators=[django.core.validators.MinValueValidator(0.1)]),
                ),
                (
                    "bills_errors",
                    models.BooleanField(
                        default=False,
                        help_text="An error answer may have cost money: such a call waits for reconciliation.",
                    ),
                ),
                ("enabled", models.BooleanField(default=True)),
                ("options", models.JSONField(blank=True, default=dict)),
            ],
            options={
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("timeout_seconds__gt", 0)), name="upstream_timeout_positive"
                    )
                ],
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
                        validators=[
                            django.core.validators.RegexValidator(
                                "\\A[A-Za-z0-9][A-Za-z0-9._:/@-]{0,199}\\Z", "Letters, digits and . _ : / @ - only."
                            )
                        ],
                    ),
                ),
                ("enabled", models.BooleanField(default=True)),
                ("max_output_tokens", models.PositiveIntegerField(blank=True, null=True)),
                ("context_tokens", models.PositiveIntegerField(blank=True, null=True)),
                ("options", models.JSONField(blank=True, default=dict)),
                (
                    "integrations",
                    models.ManyToManyField(blank=True, related_name="raw_models", to="accounts.integration"),
                ),
                (
                    "upstream",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="raw_models", to="inference.upstream"
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="Deployment",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("model", models.CharField(help_text="The upstream's own name for the model.", max_length=200)),
                ("priority", models.PositiveIntegerField(default=0)),
                ("weight", models.PositiveIntegerField(default=1)),
                ("enabled", models.BooleanField(default=True)),
                (
                    "alias",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="deployments", to="inference.alias"
                    ),
                ),
                (
                    "upstream",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="deployments", to="inference.upstream"
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=("alias", "upstream", "model"), name="deployment_once_per_alias"),
                    models.CheckConstraint(condition=models.Q(("weight__gt", 0)), name="deployment_weight_positive"),
                ],
            },
        ),
    ]
