"""Makes the tables of version 0.1, and keeps the intervals of one subject from overlapping."""

from django.conf import settings
from django.db import migrations, models
from django.db.models import Q

from gateway.core.database.migrations import RestartableMigration

ROLES = ["owner", "admin", "billing", "member"]

# The subject is a bigint, compared as a range of one number, so that no extension is needed.
EXCLUSIONS = """
ALTER TABLE organizations_seatinterval ADD CONSTRAINT seat_interval_never_overlaps EXCLUDE USING gist (
    int8range(seat_id, seat_id, '[]') WITH &&, tstzrange(started_at, ended_at) WITH &&
);
ALTER TABLE organizations_entitlementinterval ADD CONSTRAINT entitlement_interval_never_overlaps EXCLUDE USING gist (
    int8range(entitlement_id, entitlement_id, '[]') WITH &&, tstzrange(started_at, ended_at) WITH &&
);
"""


class Migration(RestartableMigration):
    initial = True
    replaces = [
        ("organizations", "0002_functions"),
    ]
    dependencies = [("accounts", "0001_initial")]

    operations = [
        migrations.CreateModel(
            name="Organization",
            fields=[
                ("id", models.CharField(max_length=40, primary_key=True, serialize=False)),
                ("name", models.CharField(max_length=120)),
                ("version", models.PositiveBigIntegerField(default=1)),
                ("is_past_due", models.BooleanField(default=False)),
                ("created_at", models.DateTimeField()),
                ("changed_at", models.DateTimeField()),
            ],
            options={"constraints": [models.CheckConstraint(condition=~Q(name=""), name="organization_has_a_name")]},
        ),
        migrations.CreateModel(
            name="Membership",
            fields=[
                ("id", models.CharField(max_length=40, primary_key=True, serialize=False)),
                (
                    "role",
                    models.CharField(
                        choices=[(role, role) for role in ROLES],
                        max_length=16,
                    ),
                ),
                ("version", models.PositiveBigIntegerField(default=1)),
                ("created_at", models.DateTimeField()),
                ("removed_at", models.DateTimeField(blank=True, null=True)),
                ("account", models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="memberships")),
                (
                    "organization",
                    models.ForeignKey("organizations.organization", models.PROTECT, related_name="memberships"),
                ),
            ],
            options={
                "indexes": [
                    models.Index(fields=["organization", "-created_at", "-id"], name="membership_newest_first")
                ],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("organization", "account"),
                        condition=Q(removed_at__isnull=True),
                        name="membership_one_live_per_person",
                    ),
                    models.CheckConstraint(condition=Q(role__in=ROLES), name="membership_role_known"),
                ],
            },
        ),
        migrations.CreateModel(
            name="Invitation",
            fields=[
                ("id", models.CharField(max_length=40, primary_key=True, serialize=False)),
                (
                    "role",
                    models.CharField(
                        choices=[(role, role) for role in ROLES],
                        max_length=16,
                    ),
                ),
                ("email", models.EmailField(blank=True, max_length=254, null=True)),
                ("token_sha256", models.BinaryField(max_length=32, unique=True)),
                ("created_at", models.DateTimeField()),
                ("expires_at", models.DateTimeField()),
                ("revoked_at", models.DateTimeField(blank=True, null=True)),
                (
                    "accepted_by",
                    models.OneToOneField(
                        "organizations.membership", models.PROTECT, blank=True, null=True, related_name="invitation"
                    ),
                ),
                ("invited_by", models.ForeignKey("organizations.membership", models.PROTECT, related_name="+")),
                (
                    "organization",
                    models.ForeignKey("organizations.organization", models.PROTECT, related_name="invitations"),
                ),
            ],
            options={
                "constraints": [
                    models.CheckConstraint(condition=Q(role__in=ROLES), name="invitation_role_known"),
                    models.CheckConstraint(
                        condition=Q(accepted_by__isnull=True) | Q(revoked_at__isnull=True),
                        name="invitation_accepted_or_revoked",
                    ),
                ]
            },
        ),
        migrations.CreateModel(
            name="Entitlement",
            fields=[
                ("id", models.BigAutoField(primary_key=True, serialize=False)),
                ("is_enabled", models.BooleanField(default=False)),
                ("max_seats", models.PositiveIntegerField(blank=True, null=True)),
                ("version", models.PositiveBigIntegerField(default=1)),
                ("product", models.ForeignKey("accounts.product", models.PROTECT, related_name="+", to_field="slug")),
                (
                    "organization",
                    models.ForeignKey("organizations.organization", models.PROTECT, related_name="entitlements"),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=("organization", "product"), name="entitlement_one_per_product")
                ]
            },
        ),
        migrations.CreateModel(
            name="AuditEntry",
            fields=[
                ("id", models.BigAutoField(primary_key=True, serialize=False)),
                ("actor_did", models.TextField()),
                ("action", models.CharField(max_length=40)),
                ("subject", models.TextField()),
                ("detail", models.JSONField(default=dict)),
                ("created_at", models.DateTimeField()),
                (
                    "organization",
                    models.ForeignKey("organizations.organization", models.PROTECT, related_name="audit_entries"),
                ),
            ],
            options={
                "indexes": [models.Index(fields=["organization", "-id"], name="audit_newest_first")],
                "verbose_name_plural": "audit log",
            },
        ),
        migrations.CreateModel(
            name="Seat",
            fields=[
                ("id", models.BigAutoField(primary_key=True, serialize=False)),
                ("assigned_at", models.DateTimeField(blank=True, null=True)),
                ("version", models.PositiveBigIntegerField(default=1)),
                ("entitlement", models.ForeignKey("organizations.entitlement", models.PROTECT, related_name="seats")),
                ("membership", models.ForeignKey("organizations.membership", models.PROTECT, related_name="seats")),
            ],
            options={
                "indexes": [
                    models.Index(fields=["entitlement"], condition=Q(assigned_at__isnull=False), name="seat_assigned")
                ],
                "constraints": [
                    models.UniqueConstraint(fields=("entitlement", "membership"), name="seat_one_per_membership")
                ],
            },
        ),
        migrations.CreateModel(
            name="SeatInterval",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("started_at", models.DateTimeField()),
                ("ended_at", models.DateTimeField(blank=True, null=True)),
                (
                    "seat",
                    models.ForeignKey("organizations.seat", models.PROTECT, db_index=False, related_name="intervals"),
                ),
            ],
            options={
                "constraints": [
                    models.CheckConstraint(
                        condition=Q(ended_at__isnull=True) | Q(ended_at__gt=models.F("started_at")),
                        name="seat_interval_ends_after_start",
                    )
                ]
            },
        ),
        migrations.CreateModel(
            name="EntitlementInterval",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("started_at", models.DateTimeField()),
                ("ended_at", models.DateTimeField(blank=True, null=True)),
                (
                    "entitlement",
                    models.ForeignKey("organizations.entitlement", models.PROTECT, related_name="intervals"),
                ),
            ],
            options={
                "constraints": [
                    models.CheckConstraint(
                        condition=Q(ended_at__isnull=True) | Q(ended_at__gt=models.F("started_at")),
                        name="entitlement_interval_ends_after_start",
                    )
                ]
            },
        ),
        migrations.RunSQL(EXCLUSIONS, migrations.RunSQL.noop),
    ]
