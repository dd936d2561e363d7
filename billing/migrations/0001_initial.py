"""Makes the ledger's tables of version 0.1, and tunes how the hot ones are stored."""

from datetime import UTC, datetime

from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.indexes import BrinIndex
from django.db import migrations, models
from django.db.models import Q
from django.db.models.functions import Now

from billing.models.fields import KeyField, MicrousdField
from gateway.core.database.migrations import RestartableMigration

OWNER_KINDS = [("account", "Account"), ("organization", "Organization")]

# Room on each page lets an update stay on it without touching an index (heap-only); frequent small vacuums keep a row
# that is updated a thousand times a second cheap to find. Answers are kept for a day and are mostly text that was
# compressed or encoded before: not worth compressing again.
STORAGE = """
ALTER TABLE billing_wallet SET (
  fillfactor = 30, autovacuum_vacuum_scale_factor = 0.0, autovacuum_vacuum_threshold = 5000,
  autovacuum_vacuum_cost_delay = 0);
ALTER TABLE billing_budget SET (
  fillfactor = 30, autovacuum_vacuum_scale_factor = 0.0, autovacuum_vacuum_threshold = 5000,
  autovacuum_vacuum_cost_delay = 0);
ALTER TABLE billing_credit_lot SET (
  fillfactor = 50, autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_cost_delay = 0);
ALTER TABLE billing_reservation SET (
  fillfactor = 60, autovacuum_vacuum_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.05);
ALTER TABLE billing_stored_replay ALTER COLUMN body SET STORAGE EXTERNAL;
"""


class Migration(RestartableMigration):
    initial = True
    replaces = [
        ("billing", "0002_storage"),
        ("billing", "0003_functions"),
        ("billing", "0004_calls_of_wallet"),
        ("billing", "0005_payments"),
        ("billing", "0006_lots_in_the_call"),
        ("billing", "0007_batches"),
        ("billing", "0008_seals"),
        ("billing", "0009_bounded_work"),
    ]
    dependencies = []

    operations = [
        migrations.CreateModel(
            name="PriceVersion",
            fields=[
                ("id", models.BigAutoField(primary_key=True, serialize=False)),
                ("alias", KeyField()),
                ("components", models.JSONField()),
                ("effective_at", models.DateTimeField(db_default=Now())),
            ],
            options={
                "db_table": "billing_price_version",
                "constraints": [
                    models.UniqueConstraint(fields=("alias", "effective_at"), name="price_one_per_instant")
                ],
                "verbose_name": "price",
            },
        ),
        migrations.CreateModel(
            name="Wallet",
            fields=[
                ("id", KeyField(primary_key=True, serialize=False)),
                ("owner_kind", models.TextField(choices=OWNER_KINDS)),
                ("owner_key", KeyField()),
                ("balance_microusd", MicrousdField(db_default=0)),
                ("held_microusd", MicrousdField(db_default=0)),
                ("debt_microusd", MicrousdField(db_default=0)),
                ("created_at", models.DateTimeField(db_default=Now())),
            ],
            options={
                "db_table": "billing_wallet",
                "constraints": [
                    models.UniqueConstraint(fields=("owner_kind", "owner_key"), name="wallet_one_per_owner")
                ],
            },
        ),
        migrations.CreateModel(
            name="Call",
            fields=[
                ("id", KeyField(primary_key=True, serialize=False)),
                ("actor_did", KeyField()),
                ("org_id", KeyField(null=True)),
                ("membership_id", KeyField(null=True)),
                ("product", KeyField(null=True)),
                ("client_id", KeyField(null=True)),
                ("route", KeyField()),
                ("model", KeyField()),
                ("deployment", KeyField(null=True)),
                ("request_id", KeyField(null=True)),
                ("idempotency_key", KeyField(null=True)),
                ("request_digest", models.BinaryField(null=True)),
                ("replayable", models.BooleanField()),
                (
                    "state",
                    models.TextField(
                        choices=[
                            ("dispatched", "Held"),
                            ("review", "Reconciling"),
                            ("settled", "Settled"),
                            ("released", "Released"),
                        ]
                    ),
                ),
                ("max_cost_microusd", MicrousdField()),
                ("hold_microusd", MicrousdField()),
                ("cash_held_microusd", MicrousdField()),
                ("charge_microusd", MicrousdField(null=True)),
                ("overrun_microusd", MicrousdField(db_default=0)),
                ("created_at", models.DateTimeField(db_default=Now())),
                ("dispatched_at", models.DateTimeField(null=True)),
                ("deadline_at", models.DateTimeField(null=True)),
                ("closed_at", models.DateTimeField(null=True)),
                ("review_reason", models.TextField(null=True)),
                ("resolution", models.TextField(null=True)),
                ("evidence", models.JSONField(null=True)),
                (
                    "price_version",
                    models.ForeignKey("billing.priceversion", models.DO_NOTHING, db_constraint=False, db_index=False),
                ),
                (
                    "wallet",
                    models.ForeignKey(
                        "billing.wallet",
                        models.PROTECT,
                        db_constraint=False,
                        db_index=False,
                        related_name="calls",
                    ),
                ),
                ("lot_ids", ArrayField(KeyField(), null=True)),
                ("lot_amounts_microusd", ArrayField(MicrousdField(), null=True)),
                ("next_look_up_at", models.DateTimeField(null=True)),
            ],
            options={
                "db_table": "billing_reservation",
                "indexes": [
                    models.Index(fields=["created_at"], condition=Q(closed_at__isnull=True), name="reservation_open"),
                    models.Index(
                        fields=["wallet", "created_at"],
                        condition=Q(created_at__gt=datetime(2000, 1, 1, tzinfo=UTC)),
                        name="reservation_of_wallet",
                    ),
                    BrinIndex(fields=["closed_at"], name="reservation_closed", pages_per_range=32, autosummarize=True),
                    models.Index(
                        fields=["created_at", "id"],
                        condition=Q(closed_at__isnull=True, review_reason__isnull=False),
                        name="reservation_in_review",
                    ),
                ],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("wallet", "route", "idempotency_key"),
                        condition=Q(replayable=True),
                        name="reservation_one_per_key",
                    )
                ],
                "verbose_name": "call",
            },
        ),
        migrations.CreateModel(
            name="CreditLot",
            fields=[
                ("id", KeyField(primary_key=True, serialize=False)),
                ("product", KeyField(blank=True, null=True)),
                ("granted_microusd", MicrousdField()),
                ("remaining_microusd", MicrousdField()),
                ("held_microusd", MicrousdField(db_default=0)),
                ("expires_at", models.DateTimeField(blank=True, null=True)),
                ("source_kind", models.TextField()),
                ("source_key", KeyField()),
                ("created_at", models.DateTimeField(db_default=Now())),
                ("closed_at", models.DateTimeField(blank=True, null=True)),
                ("wallet", models.ForeignKey("billing.wallet", models.PROTECT, db_index=False, related_name="lots")),
            ],
            options={
                "db_table": "billing_credit_lot",
                "indexes": [
                    models.Index(
                        fields=["expires_at"],
                        condition=Q(closed_at__isnull=True, expires_at__isnull=False),
                        name="lot_expiring",
                    ),
                    models.Index(
                        models.F("wallet"),
                        models.ExpressionWrapper(Q(product__isnull=True), models.BooleanField()),
                        models.F("expires_at"),
                        models.F("id"),
                        condition=Q(closed_at__isnull=True),
                        name="lot_open",
                    ),
                ],
                "constraints": [
                    models.UniqueConstraint(fields=("source_kind", "source_key"), name="lot_one_per_source")
                ],
                "verbose_name": "credit",
            },
        ),
        migrations.CreateModel(
            name="Budget",
            fields=[
                ("id", KeyField(primary_key=True, serialize=False)),
                (
                    "scope",
                    models.TextField(
                        choices=[
                            ("org", "org"),
                            ("product", "product"),
                            ("member", "member"),
                            ("member_product", "member_product"),
                        ]
                    ),
                ),
                ("product", KeyField(null=True)),
                ("membership_id", KeyField(null=True)),
                ("limit_microusd", MicrousdField()),
                ("spent_microusd", MicrousdField(db_default=0)),
                ("held_microusd", MicrousdField(db_default=0)),
                ("period_start", models.DateField()),
                ("disabled_at", models.DateTimeField(null=True)),
                ("created_at", models.DateTimeField(db_default=Now())),
                ("wallet", models.ForeignKey("billing.wallet", models.PROTECT, db_index=False, related_name="budgets")),
            ],
            options={
                "db_table": "billing_budget",
                "constraints": [
                    models.UniqueConstraint(
                        fields=("wallet", "product", "membership_id"),
                        name="budget_one_per_subject",
                        nulls_distinct=False,
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="StoredReplay",
            fields=[
                (
                    "call",
                    models.OneToOneField(
                        "billing.call",
                        models.PROTECT,
                        db_column="reservation_id",
                        db_constraint=False,
                        primary_key=True,
                        related_name="stored_replay",
                        serialize=False,
                    ),
                ),
                ("status", models.SmallIntegerField()),
                ("headers", models.JSONField()),
                ("body", models.BinaryField()),
                ("expires_at", models.DateTimeField(null=True)),
            ],
            options={
                "db_table": "billing_stored_replay",
                "indexes": [models.Index(fields=["expires_at"], name="stored_replay_expiry")],
            },
        ),
        migrations.CreateModel(
            name="UsageRecord",
            fields=[
                (
                    "call",
                    models.OneToOneField(
                        "billing.call",
                        models.PROTECT,
                        db_column="reservation_id",
                        db_constraint=False,
                        primary_key=True,
                        related_name="usage_record",
                        serialize=False,
                    ),
                ),
                ("input_tokens", models.BigIntegerField(null=True)),
                ("cached_input_tokens", models.BigIntegerField(null=True)),
                ("output_tokens", models.BigIntegerField(null=True)),
                ("input_audio_tokens", models.BigIntegerField(null=True)),
                ("output_audio_tokens", models.BigIntegerField(null=True)),
                ("images", models.BigIntegerField(null=True)),
                ("input_characters", models.BigIntegerField(null=True)),
                ("seconds", models.BigIntegerField(null=True)),
                ("input_bytes", models.BigIntegerField(null=True)),
                ("items", models.BigIntegerField(null=True)),
                ("charge_microusd", MicrousdField()),
                ("basis", models.TextField()),
                ("settled_at", models.DateTimeField(db_default=Now())),
            ],
            options={"db_table": "billing_usage_record", "verbose_name_plural": "usage"},
        ),
        migrations.CreateModel(
            name="Loss",
            fields=[
                ("id", models.BigAutoField(primary_key=True, serialize=False)),
                ("kind", models.TextField(choices=[("overrun", "Overrun"), ("unresolved", "Unresolved")])),
                ("amount_microusd", MicrousdField()),
                ("created_at", models.DateTimeField(db_default=Now())),
                (
                    "call",
                    models.ForeignKey(
                        "billing.call",
                        models.PROTECT,
                        db_column="reservation_id",
                        db_index=False,
                        related_name="losses",
                    ),
                ),
            ],
            options={
                "verbose_name_plural": "losses",
                "db_table": "billing_loss",
                "constraints": [
                    models.UniqueConstraint(fields=("call", "kind"), name="loss_booked_once"),
                    models.CheckConstraint(condition=Q(amount_microusd__gt=0), name="loss_amount_positive"),
                    models.CheckConstraint(condition=Q(kind__in=["overrun", "unresolved"]), name="loss_kind_known"),
                ],
            },
        ),
        migrations.CreateModel(
            name="Transfer",
            fields=[
                ("id", models.BigAutoField(primary_key=True, serialize=False)),
                ("kind", models.TextField()),
                ("source", KeyField()),
                ("seq", models.SmallIntegerField(db_default=0)),
                ("debit_account", KeyField()),
                ("credit_account", KeyField()),
                ("amount_microusd", MicrousdField()),
                ("created_at", models.DateTimeField(db_default=Now())),
                (
                    "wallet",
                    models.ForeignKey(
                        "billing.wallet", models.PROTECT, db_constraint=False, db_index=False, related_name="transfers"
                    ),
                ),
            ],
            options={
                "db_table": "billing_transfer",
                "indexes": [
                    models.Index(fields=["wallet", "created_at"], name="transfer_of_wallet"),
                    BrinIndex(fields=["created_at"], name="transfer_by_time", pages_per_range=32),
                ],
                "constraints": [models.UniqueConstraint(fields=("source", "kind", "seq"), name="transfer_posted_once")],
                "verbose_name_plural": "ledger",
                "verbose_name": "ledger entry",
            },
        ),
        migrations.CreateModel(
            name="Checkout",
            fields=[
                ("id", KeyField(primary_key=True, serialize=False)),
                ("owner_kind", models.TextField(choices=OWNER_KINDS)),
                ("owner_key", KeyField()),
                ("kind", models.TextField(choices=[("top_up", "Top Up"), ("payment_method", "Payment Method")])),
                ("product", KeyField(blank=True, null=True)),
                ("amount_microusd", MicrousdField(blank=True, null=True)),
                ("idempotency_key", KeyField()),
                ("requested_by", KeyField()),
                ("provider", KeyField()),
                ("is_live", models.BooleanField()),
                ("session_ref", KeyField(blank=True, null=True)),
                ("payment_ref", KeyField(blank=True, null=True)),
                ("customer_ref", KeyField(blank=True, null=True)),
                ("url", models.TextField(blank=True, null=True)),
                (
                    "status",
                    models.TextField(
                        choices=[
                            ("creating", "Creating"),
                            ("open", "Open"),
                            ("paid", "Paid"),
                            ("completed", "Completed"),
                            ("expired", "Expired"),
                            ("review", "Review"),
                        ],
                        default="creating",
                    ),
                ),
                ("review_reason", models.TextField(blank=True, null=True)),
                ("taken_back_microusd", MicrousdField(default=0)),
                ("movements", models.IntegerField(default=0)),
                ("checks", models.IntegerField(default=0)),
                ("created_at", models.DateTimeField(db_default=Now())),
                ("expires_at", models.DateTimeField(blank=True, null=True)),
                ("paid_at", models.DateTimeField(blank=True, null=True)),
                ("checked_at", models.DateTimeField(blank=True, null=True)),
                ("next_check_at", models.DateTimeField(blank=True, null=True)),
            ],
            options={
                "db_table": "billing_checkout",
                "indexes": [
                    models.Index(
                        fields=["next_check_at"], condition=Q(next_check_at__isnull=False), name="checkout_due"
                    ),
                    models.Index(
                        fields=["payment_ref"], condition=Q(payment_ref__isnull=False), name="checkout_of_payment"
                    ),
                    models.Index(fields=["-created_at"], name="checkout_newest_first"),
                    models.Index(
                        fields=["owner_kind", "owner_key"],
                        condition=Q(taken_back_microusd__gt=0),
                        name="checkout_taken_back",
                    ),
                ],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("owner_kind", "owner_key", "idempotency_key"), name="checkout_one_per_owner_and_key"
                    ),
                    models.UniqueConstraint(fields=("provider", "session_ref"), name="checkout_one_per_session"),
                    models.CheckConstraint(
                        condition=Q(owner_kind__in=["account", "organization"]), name="checkout_owner_kind_known"
                    ),
                    models.CheckConstraint(
                        condition=Q(status__in=["creating", "open", "paid", "completed", "expired", "review"]),
                        name="checkout_status_known",
                    ),
                    models.CheckConstraint(
                        condition=Q(amount_microusd__gt=0, amount_microusd__isnull=False, kind="top_up")
                        | Q(amount_microusd__isnull=True, kind="payment_method", product__isnull=True),
                        name="checkout_kind_has_its_amount",
                    ),
                    models.CheckConstraint(
                        condition=Q(status__in=["creating", "expired"])
                        | Q(session_ref__isnull=False, url__isnull=False),
                        name="checkout_session_once_created",
                    ),
                    models.CheckConstraint(
                        condition=Q(paid_at__isnull=True) ^ Q(kind="top_up", status="paid"),
                        name="checkout_paid_has_its_time",
                    ),
                    models.CheckConstraint(
                        condition=~Q(status="completed") | Q(kind="payment_method"),
                        name="checkout_completed_keeps_a_method",
                    ),
                    models.CheckConstraint(
                        condition=~Q(status="review") | Q(review_reason__isnull=False),
                        name="checkout_review_has_a_reason",
                    ),
                    models.CheckConstraint(
                        condition=Q(taken_back_microusd=0)
                        | Q(
                            status="paid",
                            taken_back_microusd__gt=0,
                            taken_back_microusd__lte=models.F("amount_microusd"),
                        ),
                        name="checkout_takes_back_at_most_what_was_paid",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="ExternalMapping",
            fields=[
                ("id", models.BigAutoField(primary_key=True, serialize=False)),
                ("org_id", KeyField()),
                ("product", KeyField()),
                ("provider", KeyField()),
                ("external_org_id", KeyField()),
                ("mode", models.TextField(choices=[("test", "Test"), ("live", "Live")])),
                ("verified_by", KeyField()),
                ("verified_at", models.DateTimeField()),
            ],
            options={
                "db_table": "billing_external_mapping",
                "constraints": [
                    models.UniqueConstraint(fields=("org_id", "product"), name="external_mapping_one_per_product"),
                    models.UniqueConstraint(
                        fields=("provider", "external_org_id", "product"), name="external_mapping_one_organization"
                    ),
                    models.CheckConstraint(condition=Q(mode__in=["test", "live"]), name="external_mapping_mode_known"),
                ],
            },
        ),
        migrations.CreateModel(
            name="ProviderEvent",
            fields=[
                ("id", models.BigAutoField(primary_key=True, serialize=False)),
                ("provider", KeyField()),
                ("event_id", KeyField()),
                ("type", KeyField()),
                ("object_ref", KeyField()),
                ("payment_ref", KeyField(blank=True, null=True)),
                ("transaction_id", KeyField(blank=True, null=True)),
                ("checkout_id", KeyField(blank=True, null=True)),
                ("received_at", models.DateTimeField(db_default=Now())),
                ("handled_at", models.DateTimeField(blank=True, null=True)),
            ],
            options={
                "db_table": "billing_provider_event",
                "indexes": [
                    models.Index(
                        fields=["received_at"], condition=Q(handled_at__isnull=True), name="provider_event_waiting"
                    ),
                    models.Index(fields=["-received_at"], name="provider_event_newest_first"),
                ],
                "constraints": [
                    models.UniqueConstraint(fields=("provider", "event_id"), name="provider_event_stored_once")
                ],
            },
        ),
        migrations.CreateModel(
            name="Seal",
            fields=[
                ("id", models.BigIntegerField(primary_key=True, serialize=False)),
                ("begins_at", models.DateTimeField()),
                ("ends_at", models.DateTimeField()),
                ("contents", models.JSONField()),
                ("chain", models.BinaryField()),
                ("sealed_at", models.DateTimeField(db_default=Now())),
            ],
            options={"db_table": "billing_seal"},
        ),
        migrations.RunSQL(STORAGE, migrations.RunSQL.noop),
    ]
