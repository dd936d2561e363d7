"""Makes the tables of projects, runs, account keys and evolution, which version 0.1 did not have."""

from django.conf import settings
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import migrations, models
from django.db.models import Q

from gateway.core.api.names import validate_name
from gateway.core.database.migrations import RestartableMigration
from gateway.core.encryption.bound_text import BoundTextField
from gateway.core.encryption.fields import EncryptedTextField
from integrations.models.sandbox_settings import default_runtimes
from integrations.models.stored_json import StoredJSONDecoder

OWNER_KINDS = [("account", "Account"), ("organization", "Organization")]
NETWORKS = [("none", "No network"), ("egress", "The worker's network")]
RUNNERS = [("bubblewrap", "bubblewrap, on the worker's machine"), ("http", "A remote runner")]
RUN_STATES = [
    ("queued", "Queued"),
    ("running", "Running"),
    ("succeeded", "Succeeded"),
    ("failed", "Failed"),
    ("timed_out", "Timed out"),
    ("cancelling", "Cancelling"),
    ("cancelled", "Cancelled"),
]


class Migration(RestartableMigration):
    initial = True
    replaces = [
        ("integrations", "0002_evolution"),
        ("integrations", "0003_sandbox_runs"),
        ("integrations", "0004_evolution_jobs"),
        ("integrations", "0005_remote_runs"),
        ("integrations", "0006_stored_json"),
        ("integrations", "0007_ci_secret_rotation"),
        ("integrations", "0008_sandbox_previous_secret"),
        ("integrations", "0009_index_what_is_purged"),
        ("integrations", "0010_bind_encrypted_text"),
        ("integrations", "0011_console_texts"),
    ]
    dependencies = [("accounts", "0001_initial")]

    operations = [
        migrations.CreateModel(
            name="AccountKey",
            fields=[
                (
                    "account",
                    models.OneToOneField(
                        settings.AUTH_USER_MODEL, models.CASCADE, primary_key=True, related_name="+", serialize=False
                    ),
                ),
                ("kid", models.CharField(max_length=40, unique=True)),
                ("material", BoundTextField(help_text="The key in base64.")),
                ("created_at", models.DateTimeField()),
            ],
        ),
        migrations.CreateModel(
            name="CIProvider",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("name", models.SlugField(help_text="The last part of the webhook's URL.", max_length=64, unique=True)),
                (
                    "format",
                    models.CharField(choices=[("workflow_run", "Workflow run"), ("generic", "Generic")], max_length=16),
                ),
                ("secret", EncryptedTextField()),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("previous_secret", EncryptedTextField(blank=True, default="")),
            ],
            options={"verbose_name": "CI provider"},
        ),
        migrations.CreateModel(
            name="Project",
            fields=[
                ("id", models.CharField(editable=False, max_length=40, primary_key=True, serialize=False)),
                (
                    "key",
                    models.SlugField(
                        help_text="Names the project in the configuration file.", max_length=64, unique=True
                    ),
                ),
                (
                    "owner_kind",
                    models.CharField(choices=OWNER_KINDS, max_length=16),
                ),
                (
                    "owner_key",
                    models.CharField(help_text="An account's DID, or an organization's id.", max_length=2048),
                ),
                ("name", models.CharField(max_length=120, validators=[validate_name])),
                ("created_at", models.DateTimeField()),
                ("product", models.ForeignKey("accounts.product", models.PROTECT, related_name="+", to_field="slug")),
            ],
            options={
                "indexes": [models.Index(fields=["owner_kind", "owner_key", "-created_at"], name="project_of_owner")]
            },
        ),
        migrations.CreateModel(
            name="IntegrationSwitch",
            fields=[
                (
                    "name",
                    models.CharField(
                        choices=[("account_key_sync", "Account key sync"), ("evolution", "Evolution")],
                        max_length=32,
                        primary_key=True,
                        serialize=False,
                    ),
                ),
                ("enabled", models.BooleanField(default=False)),
            ],
            options={"verbose_name_plural": "integration switches"},
        ),
        migrations.CreateModel(
            name="ExecutionConfig",
            fields=[
                (
                    "project",
                    models.OneToOneField(
                        "integrations.project",
                        models.CASCADE,
                        primary_key=True,
                        related_name="execution_config",
                        serialize=False,
                    ),
                ),
                ("runtime", models.CharField(default="default", max_length=64)),
                ("command", models.JSONField(default=list)),
                ("environment", BoundTextField(default="")),
                ("timeout_seconds", models.PositiveIntegerField(default=30)),
                ("memory_mb", models.PositiveIntegerField(default=256)),
                (
                    "network",
                    models.CharField(
                        choices=NETWORKS,
                        default="none",
                        max_length=8,
                    ),
                ),
                ("version", models.PositiveIntegerField(default=0)),
                ("updated_at", models.DateTimeField()),
            ],
        ),
        migrations.CreateModel(
            name="CIRun",
            fields=[
                ("id", models.CharField(editable=False, max_length=40, primary_key=True, serialize=False)),
                ("external_id", models.CharField(max_length=255, verbose_name="external id")),
                ("ref", models.CharField(max_length=255)),
                ("commit", models.CharField(max_length=64)),
                (
                    "status",
                    models.CharField(
                        choices=[
                            ("queued", "Queued"),
                            ("running", "Running"),
                            ("succeeded", "Succeeded"),
                            ("failed", "Failed"),
                            ("cancelled", "Cancelled"),
                        ],
                        max_length=16,
                    ),
                ),
                ("steps", models.JSONField(default=list)),
                ("url", models.URLField(blank=True, max_length=2000)),
                ("attempt", models.PositiveIntegerField(default=1, editable=False)),
                ("position", models.DecimalField(decimal_places=0, default=0, editable=False, max_digits=20)),
                ("created_at", models.DateTimeField()),
                ("updated_at", models.DateTimeField()),
                ("finished_at", models.DateTimeField(null=True)),
                ("provider", models.ForeignKey("integrations.ciprovider", models.CASCADE, related_name="+")),
                ("project", models.ForeignKey("integrations.project", models.CASCADE, related_name="+")),
            ],
            options={
                "verbose_name": "CI run",
                "indexes": [
                    models.Index(fields=["project", "-created_at", "-id"], name="ci_run_of_project"),
                    models.Index(fields=["updated_at"], name="ci_run_last_report"),
                ],
                "constraints": [
                    models.UniqueConstraint(fields=("provider", "project", "external_id"), name="ci_run_once")
                ],
            },
        ),
        migrations.CreateModel(
            name="CIRepository",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "name",
                    models.CharField(
                        help_text="Its name in the provider's webhooks, such as acme/docs.", max_length=255
                    ),
                ),
                ("provider", models.ForeignKey("integrations.ciprovider", models.CASCADE, related_name="repositories")),
                ("project", models.ForeignKey("integrations.project", models.CASCADE, related_name="+")),
            ],
            options={
                "verbose_name": "CI repository",
                "verbose_name_plural": "CI repositories",
                "constraints": [models.UniqueConstraint(fields=("provider", "name"), name="ci_repository_once")],
            },
        ),
        migrations.CreateModel(
            name="SandboxSettings",
            fields=[
                ("id", models.SmallIntegerField(default=1, editable=False, primary_key=True, serialize=False)),
                (
                    "runner",
                    models.CharField(
                        choices=RUNNERS,
                        max_length=16,
                    ),
                ),
                ("base_url", models.CharField(blank=True, default="", max_length=500)),
                ("secret", EncryptedTextField(blank=True, default="")),
                ("runtimes", models.JSONField(default=default_runtimes)),
                (
                    "max_timeout_seconds",
                    models.PositiveIntegerField(
                        default=60, validators=[MinValueValidator(1), MaxValueValidator(86400)]
                    ),
                ),
                (
                    "max_memory_mb",
                    models.PositiveIntegerField(
                        default=512, validators=[MinValueValidator(16), MaxValueValidator(1048576)]
                    ),
                ),
                (
                    "network",
                    models.CharField(
                        choices=NETWORKS,
                        default="none",
                        max_length=8,
                    ),
                ),
                (
                    "previous_secret",
                    EncryptedTextField(
                        blank=True, default="", help_text="Also accepted until the runner uses the new one."
                    ),
                ),
            ],
            options={
                "verbose_name": "sandbox settings",
                "verbose_name_plural": "sandbox settings",
                "constraints": [models.CheckConstraint(condition=Q(id=1), name="sandbox_settings_single")],
            },
        ),
        migrations.CreateModel(
            name="EvolutionArtifact",
            fields=[
                (
                    "owner_kind",
                    models.CharField(choices=OWNER_KINDS, max_length=16),
                ),
                ("owner_key", models.CharField(max_length=2048)),
                ("id", models.CharField(editable=False, max_length=40, primary_key=True, serialize=False)),
                ("kind", models.CharField(max_length=64)),
                ("sha256", models.CharField(max_length=64, verbose_name="SHA-256")),
                ("size", models.PositiveIntegerField(help_text="Bytes.")),
                ("content", models.BinaryField()),
                ("metadata", models.JSONField(decoder=StoredJSONDecoder, default=dict)),
                ("created_at", models.DateTimeField()),
            ],
            options={
                "indexes": [
                    models.Index(fields=["owner_kind", "owner_key", "-created_at", "-id"], name="artifact_of_owner")
                ],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("owner_kind", "owner_key", "kind", "sha256"), name="evolution_artifact_by_content"
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="EvolutionEvidence",
            fields=[
                (
                    "owner_kind",
                    models.CharField(choices=OWNER_KINDS, max_length=16),
                ),
                ("owner_key", models.CharField(max_length=2048)),
                ("id", models.CharField(editable=False, max_length=40, primary_key=True, serialize=False)),
                ("kind", models.CharField(max_length=64)),
                ("payload", models.JSONField(decoder=StoredJSONDecoder)),
                ("created_at", models.DateTimeField()),
                (
                    "artifact",
                    models.ForeignKey("integrations.evolutionartifact", models.CASCADE, related_name="evidence"),
                ),
            ],
            options={
                "verbose_name_plural": "evolution evidence",
                "indexes": [
                    models.Index(fields=["owner_kind", "owner_key", "-created_at", "-id"], name="evidence_of_owner")
                ],
            },
        ),
        migrations.CreateModel(
            name="EvolutionRevision",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "owner_kind",
                    models.CharField(choices=OWNER_KINDS, max_length=16),
                ),
                ("owner_key", models.CharField(max_length=2048)),
                ("revision", models.PositiveIntegerField()),
                ("activated_at", models.DateTimeField()),
                ("artifact", models.ForeignKey("integrations.evolutionartifact", models.PROTECT, related_name="+")),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(
                        fields=("owner_kind", "owner_key", "revision"), name="evolution_revision_once"
                    )
                ]
            },
        ),
        migrations.CreateModel(
            name="SandboxRun",
            fields=[
                ("id", models.CharField(editable=False, max_length=40, primary_key=True, serialize=False)),
                (
                    "requested_by",
                    models.CharField(help_text="The DID of the account that requested it.", max_length=2048),
                ),
                ("idempotency_key", models.CharField(editable=False, max_length=255, null=True)),
                ("fingerprint", models.CharField(editable=False, max_length=64)),
                (
                    "status",
                    models.CharField(
                        choices=RUN_STATES,
                        default="queued",
                        max_length=16,
                    ),
                ),
                ("inputs", BoundTextField(editable=False)),
                ("reason", models.TextField(blank=True, default="")),
                ("error_code", models.CharField(blank=True, default="", max_length=64)),
                ("worker", models.CharField(blank=True, default="", editable=False, max_length=32)),
                ("heartbeat_at", models.DateTimeField(editable=False, null=True)),
                ("created_at", models.DateTimeField()),
                ("started_at", models.DateTimeField(null=True)),
                ("finished_at", models.DateTimeField(null=True)),
                (
                    "runner",
                    models.CharField(
                        choices=RUNNERS,
                        max_length=16,
                    ),
                ),
                ("exit_code", models.IntegerField(null=True)),
                ("stdout", EncryptedTextField(blank=True, default="")),
                ("stderr", EncryptedTextField(blank=True, default="")),
                ("truncated", models.BooleanField(default=False)),
                ("project", models.ForeignKey("integrations.project", models.CASCADE, related_name="+")),
                (
                    "sequence",
                    models.BigIntegerField(
                        default=-1, editable=False, help_text="The number of the remote runner's latest report."
                    ),
                ),
            ],
            options={
                "indexes": [
                    models.Index(fields=["project", "-created_at", "-id"], name="sandbox_run_of_project"),
                    models.Index(
                        fields=["status", "created_at"],
                        condition=Q(status__in=("queued", "running", "cancelling")),
                        name="sandbox_run_active",
                    ),
                    models.Index(fields=["finished_at"], name="sandbox_run_over"),
                ],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("project", "requested_by", "idempotency_key"), name="sandbox_run_once"
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="EvolutionProgram",
            fields=[
                ("name", models.SlugField(max_length=64, primary_key=True, serialize=False)),
                ("command", models.JSONField(help_text="A list: the program and its arguments.")),
                (
                    "timeout_seconds",
                    models.PositiveIntegerField(
                        default=30, validators=[MinValueValidator(1), MaxValueValidator(86400)]
                    ),
                ),
                (
                    "memory_mb",
                    models.PositiveIntegerField(
                        default=256, validators=[MinValueValidator(16), MaxValueValidator(1048576)]
                    ),
                ),
                ("result_kind", models.CharField(blank=True, default="", max_length=64)),
            ],
        ),
        migrations.CreateModel(
            name="EvolutionJob",
            fields=[
                (
                    "owner_kind",
                    models.CharField(choices=OWNER_KINDS, max_length=16),
                ),
                ("owner_key", models.CharField(max_length=2048)),
                ("id", models.CharField(editable=False, max_length=40, primary_key=True, serialize=False)),
                (
                    "requested_by",
                    models.CharField(help_text="The DID of the account that requested it.", max_length=2048),
                ),
                ("idempotency_key", models.CharField(editable=False, max_length=255, null=True)),
                ("fingerprint", models.CharField(editable=False, max_length=64)),
                (
                    "status",
                    models.CharField(
                        choices=RUN_STATES,
                        default="queued",
                        max_length=16,
                    ),
                ),
                ("inputs", BoundTextField(editable=False)),
                ("reason", models.TextField(blank=True, default="")),
                ("error_code", models.CharField(blank=True, default="", max_length=64)),
                ("worker", models.CharField(blank=True, default="", editable=False, max_length=32)),
                ("heartbeat_at", models.DateTimeField(editable=False, null=True)),
                ("created_at", models.DateTimeField()),
                ("started_at", models.DateTimeField(null=True)),
                ("finished_at", models.DateTimeField(null=True)),
                ("program", models.CharField(max_length=64)),
                ("artifact_ids", models.JSONField(default=list)),
                ("evidence_ids", models.JSONField(default=list)),
                (
                    "result_artifact",
                    models.ForeignKey("integrations.evolutionartifact", models.PROTECT, null=True, related_name="+"),
                ),
            ],
            options={
                "indexes": [
                    models.Index(
                        fields=["owner_kind", "owner_key", "-created_at", "-id"], name="evolution_job_of_owner"
                    ),
                    models.Index(
                        fields=["status", "created_at"],
                        condition=Q(status__in=("queued", "running", "cancelling")),
                        name="evolution_job_active",
                    ),
                    models.Index(fields=["finished_at"], name="evolution_job_over"),
                ],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("owner_kind", "owner_key", "requested_by", "idempotency_key"), name="evolution_job_once"
                    )
                ],
            },
        ),
    ]
