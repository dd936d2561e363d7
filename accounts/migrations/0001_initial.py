"""Makes the tables of version 0.1."""

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.core.validators import MinValueValidator
from django.db import migrations, models
from django.db.models import Q
from django.db.models.functions import Lower
from django.utils.timezone import now

from accounts.models.device_session import new_session_id
from accounts.models.integration import gateway_address
from accounts.models.validators import validate_capabilities, validate_did, validate_did_prefix, validate_jwks
from gateway.core.api.names import validate_name
from gateway.core.database.migrations import RestartableMigration
from gateway.core.encryption.fields import EncryptedTextField


class Migration(RestartableMigration):
    initial = True
    replaces = [
        ("accounts", "0002_functions"),
        ("accounts", "0003_public_clients"),
        ("accounts", "0004_liveness"),
        ("accounts", "0005_admit_in_fewer_statements"),
        ("accounts", "0006_shared_cache_and_session_epoch"),
        ("accounts", "0007_encrypt_second_factors"),
        ("accounts", "0008_limits"),
        ("accounts", "0009_names"),
    ]
    dependencies = [("auth", "0012_alter_user_first_name_max_length")]

    operations = [
        migrations.CreateModel(
            name="AppearanceProduct",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("slug", models.SlugField(max_length=64, unique=True)),
            ],
            options={"db_table": "accounts_appearance_product"},
        ),
        migrations.CreateModel(
            name="ProofReplay",
            fields=[
                ("digest", models.BinaryField(primary_key=True, serialize=False)),
                ("expires_at", models.DateTimeField(db_index=True)),
            ],
            options={"db_table": "accounts_proof_replay"},
        ),
        migrations.CreateModel(
            name="PublicClient",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("client_id", models.CharField(max_length=255, unique=True)),
                ("name", models.CharField(max_length=120, validators=[validate_name])),
                ("redirect_uris", ArrayField(models.CharField(max_length=2048), default=list)),
                (
                    "trusted",
                    models.BooleanField(default=False, help_text="Users of this client are not asked for consent."),
                ),
                ("enabled", models.BooleanField(default=True)),
            ],
            options={"db_table": "accounts_public_client"},
        ),
        migrations.CreateModel(
            name="Account",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("password", models.CharField(max_length=128, verbose_name="password")),
                ("last_login", models.DateTimeField(blank=True, null=True, verbose_name="last login")),
                (
                    "is_superuser",
                    models.BooleanField(
                        default=False,
                        help_text="Designates that this user has all permissions without explicitly assigning them.",
                        verbose_name="superuser status",
                    ),
                ),
                ("did", models.CharField(max_length=512, unique=True, validators=[validate_did], verbose_name="DID")),
                ("email", models.EmailField(blank=True, max_length=254, null=True)),
                ("display_name", models.CharField(blank=True, max_length=120, validators=[validate_name])),
                ("is_active", models.BooleanField(default=True)),
                ("is_staff", models.BooleanField(default=False, help_text="Can sign in to the operator console.")),
                (
                    "suspended_at",
                    models.DateTimeField(
                        blank=True, help_text="The account's tokens have been refused since this time.", null=True
                    ),
                ),
                ("created_at", models.DateTimeField(default=now, editable=False)),
                (
                    "groups",
                    models.ManyToManyField(
                        "auth.group",
                        blank=True,
                        help_text="The groups this user belongs to. A user will get all permissions granted to each of their groups.",
                        related_name="user_set",
                        related_query_name="user",
                        verbose_name="groups",
                    ),
                ),
                (
                    "user_permissions",
                    models.ManyToManyField(
                        "auth.permission",
                        blank=True,
                        help_text="Specific permissions for this user.",
                        related_name="user_set",
                        related_query_name="user",
                        verbose_name="user permissions",
                    ),
                ),
                ("session_epoch", models.PositiveIntegerField(db_default=0, default=0, editable=False)),
            ],
            options={"constraints": [models.UniqueConstraint(Lower("email"), name="accounts_account_email_unique")]},
        ),
        migrations.CreateModel(
            name="ConsumedAssertion",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("issuer", models.CharField(max_length=255)),
                ("jti", models.CharField(max_length=255)),
                ("expires_at", models.DateTimeField(db_index=True)),
            ],
            options={
                "db_table": "accounts_consumed_assertion",
                "constraints": [
                    models.UniqueConstraint(fields=("issuer", "jti"), name="accounts_assertion_serves_once")
                ],
            },
        ),
        migrations.CreateModel(
            name="DeviceSession",
            fields=[
                (
                    "id",
                    models.CharField(
                        default=new_session_id, editable=False, max_length=64, primary_key=True, serialize=False
                    ),
                ),
                ("client_id", models.CharField(max_length=255)),
                ("name", models.CharField(blank=True, max_length=120)),
                ("created_at", models.DateTimeField()),
                ("expires_at", models.DateTimeField()),
                ("revoked_at", models.DateTimeField(blank=True, null=True)),
                ("last_used_at", models.DateTimeField(blank=True, null=True)),
                (
                    "account",
                    models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="device_sessions"),
                ),
                ("consents", ArrayField(models.CharField(max_length=64), default=list)),
                ("generation", models.PositiveIntegerField(default=1)),
                ("jkt", models.CharField(default="", max_length=43)),
                ("persistent", models.BooleanField(default=True)),
                ("rotated_at", models.DateTimeField(blank=True, null=True)),
                ("scopes", ArrayField(models.CharField(max_length=255), default=list)),
            ],
            options={"db_table": "accounts_device_session"},
        ),
        migrations.CreateModel(
            name="Product",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("slug", models.SlugField(max_length=64, unique=True)),
                ("name", models.CharField(max_length=120, validators=[validate_name])),
                ("seat_price_microusd", models.BigIntegerField(default=0, validators=[MinValueValidator(0)])),
            ],
            options={
                "constraints": [
                    models.CheckConstraint(condition=Q(seat_price_microusd__gte=0), name="accounts_product_price_min")
                ]
            },
        ),
        migrations.CreateModel(
            name="Integration",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("issuer", models.CharField(max_length=255, unique=True)),
                ("audience", models.CharField(default=gateway_address, max_length=255)),
                (
                    "did_prefix",
                    models.CharField(max_length=255, validators=[validate_did_prefix], verbose_name="DID prefix"),
                ),
                (
                    "capabilities",
                    ArrayField(models.CharField(max_length=255), default=list, validators=[validate_capabilities]),
                ),
                ("jwks", models.JSONField(validators=[validate_jwks], verbose_name="JWKS")),
                ("enabled", models.BooleanField(default=True)),
                (
                    "product",
                    models.ForeignKey("accounts.product", models.PROTECT, related_name="integrations", to_field="slug"),
                ),
            ],
        ),
        migrations.CreateModel(
            name="ReplayEpoch",
            fields=[
                ("id", models.SmallIntegerField(default=1, editable=False, primary_key=True, serialize=False)),
                ("lost_until", models.DateTimeField(blank=True, null=True)),
            ],
            options={
                "db_table": "accounts_replay_epoch",
                "constraints": [models.CheckConstraint(condition=Q(id=1), name="accounts_replay_epoch_single")],
            },
        ),
        migrations.CreateModel(
            name="SigningKey",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("kid", models.CharField(max_length=64, unique=True)),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("pending", "Pending"),
                            ("active", "Active"),
                            ("passive", "Passive"),
                            ("retired", "Retired"),
                        ],
                        max_length=16,
                    ),
                ),
                ("public_jwk", models.JSONField()),
                ("private_pem", EncryptedTextField()),
                ("created_at", models.DateTimeField()),
                ("activated_at", models.DateTimeField(blank=True, null=True)),
                ("passive_at", models.DateTimeField(blank=True, null=True)),
                ("retired_at", models.DateTimeField(blank=True, null=True)),
            ],
            options={
                "db_table": "accounts_signing_key",
                "constraints": [
                    models.UniqueConstraint(
                        fields=("state",), condition=Q(state="active"), name="accounts_one_active_key"
                    ),
                    models.UniqueConstraint(
                        fields=("state",), condition=Q(state="pending"), name="accounts_one_pending_key"
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="AuthorizationRequest",
            fields=[
                ("id", models.CharField(max_length=40, primary_key=True, serialize=False)),
                ("browser_sha256", models.BinaryField(max_length=32)),
                ("client_id", models.CharField(max_length=255)),
                ("redirect_uri", models.TextField()),
                ("state", models.TextField()),
                ("scopes", ArrayField(models.CharField(max_length=255))),
                ("code_challenge", models.CharField(max_length=43)),
                ("dpop_jkt", models.CharField(max_length=43, null=True)),
                ("created_at", models.DateTimeField()),
                ("expires_at", models.DateTimeField(db_index=True)),
                ("answered_at", models.DateTimeField(null=True)),
            ],
            options={"db_table": "accounts_authorization_request"},
        ),
        migrations.CreateModel(
            name="AuthorizationCode",
            fields=[
                ("code_sha256", models.BinaryField(max_length=32, primary_key=True, serialize=False)),
                ("client_id", models.CharField(max_length=255)),
                ("redirect_uri", models.TextField()),
                ("scopes", ArrayField(models.CharField(max_length=255))),
                ("consents", ArrayField(models.CharField(max_length=64), default=list)),
                ("code_challenge", models.CharField(max_length=43, unique=True)),
                ("dpop_jkt", models.CharField(max_length=43, null=True)),
                ("created_at", models.DateTimeField()),
                ("expires_at", models.DateTimeField(db_index=True)),
                ("spent_at", models.DateTimeField(null=True)),
                ("account", models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="+")),
                ("session", models.ForeignKey("accounts.devicesession", models.SET_NULL, null=True, related_name="+")),
            ],
            options={"db_table": "accounts_authorization_code"},
        ),
        migrations.CreateModel(
            name="CacheEntry",
            fields=[
                ("key", models.TextField(primary_key=True, serialize=False)),
                ("value", models.TextField()),
                ("expires_at", models.DateTimeField()),
            ],
            options={
                "db_table": "accounts_cache_entry",
                "indexes": [models.Index(fields=["expires_at"], name="accounts_cache_expiry")],
            },
        ),
        migrations.CreateModel(
            name="Limit",
            fields=[
                ("digest", models.BinaryField(primary_key=True, serialize=False)),
                ("used", models.PositiveIntegerField()),
                ("ends_at", models.DateTimeField()),
            ],
            options={"db_table": "accounts_limit"},
        ),
        # Losing a count costs nothing.
        migrations.RunSQL("ALTER TABLE accounts_limit SET UNLOGGED", migrations.RunSQL.noop),
    ]
