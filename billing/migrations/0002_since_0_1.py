"""Adds seats' prices and invoices, days of use, the match with the provider, takeovers, and the register of old months.

The index by closing time is kept summarized: a block range without a summary is read by every look-up.
"""

from django.db import migrations, models
from django.db.models import Q
from django.db.models.functions import Now

from billing.models.fields import KeyField, MicrousdField
from gateway.core.database.migrations import RestartableMigration

# The prices that the catalogue has now are those of every earlier month, for nothing was billed before.
PRICES = """
INSERT INTO billing_seat_price (product, price_microusd, effective_at)
SELECT slug, seat_price_microusd, clock_timestamp() FROM accounts_product
"""
MAPPED_SINCE = "UPDATE billing_external_mapping SET created_at = verified_at"


class Migration(RestartableMigration):
    replaces = [
        ("billing", "0010_lighter_guards"),
        ("billing", "0012_names_in_the_console"),
        ("billing", "0013_takeover"),
        ("billing", "0014_seat_invoices"),
        ("billing", "0015_usage_days"),
        ("billing", "0017_record_when_invoices_end"),
        ("billing", "0018_provider_balance"),
        ("billing", "0019_credit_notes_of_refunds"),
        ("billing", "0020_record_when_the_match_writes"),
        ("billing", "0021_ledger_months"),
    ]
    dependencies = [("accounts", "0001_initial"), ("billing", "0001_initial")]

    operations = [
        migrations.CreateModel(
            name="Takeover",
            fields=[
                (
                    "call",
                    models.OneToOneField(
                        "billing.call",
                        models.PROTECT,
                        db_column="reservation_id",
                        db_constraint=False,
                        primary_key=True,
                        related_name="takeover",
                        serialize=False,
                    ),
                ),
                ("model", KeyField()),
                ("created_at", models.DateTimeField(db_default=Now())),
                (
                    "price_version",
                    models.ForeignKey("billing.priceversion", models.DO_NOTHING, db_constraint=False, db_index=False),
                ),
            ],
            options={"db_table": "billing_takeover"},
        ),
        migrations.CreateModel(
            name="Invoice",
            fields=[
                ("id", KeyField(primary_key=True, serialize=False)),
                ("org_id", KeyField()),
                ("serial", models.BigIntegerField(blank=True, null=True)),
                (
                    "status",
                    models.TextField(
                        choices=[
                            ("draft", "Draft"),
                            ("open", "Open"),
                            ("past_due", "Past Due"),
                            ("paid", "Paid"),
                            ("void", "Void"),
                        ],
                        default="draft",
                    ),
                ),
                ("period_start", models.DateTimeField()),
                ("period_end", models.DateTimeField()),
                ("total_microusd", MicrousdField()),
                ("due_microusd", MicrousdField()),
                ("created_at", models.DateTimeField(db_default=Now())),
                ("issued_at", models.DateTimeField(blank=True, null=True)),
                ("paid_at", models.DateTimeField(blank=True, null=True)),
                ("voided_at", models.DateTimeField(blank=True, null=True)),
                ("void_reason", models.TextField(blank=True, null=True)),
                ("next_attempt_at", models.DateTimeField(blank=True, null=True)),
                ("issue_recorded_at", models.DateTimeField(editable=False, null=True)),
                ("end_recorded_at", models.DateTimeField(editable=False, null=True)),
            ],
            options={
                "db_table": "billing_invoice",
                "indexes": [
                    models.Index(fields=["org_id", "-period_start"], name="invoice_of_organization"),
                    models.Index(
                        fields=["next_attempt_at"],
                        condition=Q(next_attempt_at__isnull=False),
                        name="invoice_to_collect",
                    ),
                    models.Index(fields=["issued_at"], condition=Q(status="open"), name="invoice_unpaid"),
                    models.Index(fields=["org_id"], condition=Q(status="past_due"), name="invoice_past_due"),
                    models.Index(fields=["period_start", "org_id"], condition=Q(status="draft"), name="invoice_drafts"),
                ],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("org_id", "period_start"), condition=~Q(status="void"), name="invoice_one_per_month"
                    ),
                    models.UniqueConstraint(fields=("serial",), name="invoice_one_per_serial"),
                    models.CheckConstraint(
                        condition=Q(status__in=["draft", "open", "past_due", "paid", "void"]),
                        name="invoice_status_known",
                    ),
                    models.CheckConstraint(
                        condition=Q(issued_at__isnull=True, serial__isnull=True, status="void")
                        | Q(issued_at__isnull=True, serial__isnull=True, status="draft")
                        | ~Q(status="draft") & Q(issued_at__isnull=False) & Q(serial__isnull=False),
                        name="invoice_serial_once_issued",
                    ),
                    models.CheckConstraint(
                        condition=Q(paid_at__isnull=True) ^ Q(status="paid"), name="invoice_paid_has_its_time"
                    ),
                    models.CheckConstraint(
                        condition=Q(status="void", void_reason__isnull=False, voided_at__isnull=False)
                        | ~Q(status="void") & Q(void_reason__isnull=True) & Q(voided_at__isnull=True),
                        name="invoice_void_has_a_reason",
                    ),
                    models.CheckConstraint(
                        condition=Q(due_microusd__gte=0, due_microusd__lte=models.F("total_microusd")),
                        name="invoice_due_within_total",
                    ),
                    models.CheckConstraint(
                        condition=Q(next_attempt_at__isnull=True) | Q(status__in=("open", "past_due")),
                        name="invoice_attempts_while_unpaid",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="SeatPrice",
            fields=[
                ("id", models.BigAutoField(primary_key=True, serialize=False)),
                ("product", KeyField()),
                ("price_microusd", MicrousdField()),
                ("effective_at", models.DateTimeField(db_default=Now())),
            ],
            options={
                "db_table": "billing_seat_price",
                "constraints": [
                    models.UniqueConstraint(fields=("product", "effective_at"), name="seat_price_one_per_instant"),
                    models.CheckConstraint(condition=Q(price_microusd__gte=0), name="seat_price_min"),
                ],
            },
        ),
        migrations.CreateModel(
            name="CreditNote",
            fields=[
                ("id", KeyField(primary_key=True, serialize=False)),
                ("serial", models.BigIntegerField()),
                ("amount_microusd", MicrousdField()),
                ("reason", models.TextField()),
                ("created_by", KeyField()),
                ("created_at", models.DateTimeField(db_default=Now())),
                ("invoice", models.ForeignKey("billing.invoice", models.PROTECT, related_name="credit_notes")),
                ("is_refund", models.BooleanField(db_default=False, default=False)),
            ],
            options={
                "db_table": "billing_credit_note",
                "constraints": [
                    models.UniqueConstraint(fields=("serial",), name="credit_note_one_per_serial"),
                    models.CheckConstraint(condition=Q(amount_microusd__gt=0), name="credit_note_amount_min"),
                ],
            },
        ),
        migrations.CreateModel(
            name="InvoiceLine",
            fields=[
                ("id", models.BigAutoField(primary_key=True, serialize=False)),
                ("product", KeyField()),
                ("price_microusd", MicrousdField()),
                ("seat_days", models.IntegerField()),
                ("amount_microusd", MicrousdField()),
                ("invoice", models.ForeignKey("billing.invoice", models.PROTECT, db_index=False, related_name="lines")),
            ],
            options={
                "db_table": "billing_invoice_line",
                "ordering": ("product",),
                "constraints": [
                    models.UniqueConstraint(fields=("invoice", "product"), name="invoice_line_one_per_product"),
                    models.CheckConstraint(
                        condition=Q(amount_microusd__gte=0, price_microusd__gte=0, seat_days__gt=0),
                        name="invoice_line_min",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="InvoicePayment",
            fields=[
                ("id", KeyField(primary_key=True, serialize=False)),
                ("amount_microusd", MicrousdField()),
                ("provider", KeyField()),
                ("is_live", models.BooleanField()),
                ("customer_ref", KeyField()),
                ("method_ref", KeyField()),
                ("requested_by", KeyField(blank=True, null=True)),
                ("payment_ref", KeyField(blank=True, null=True)),
                (
                    "status",
                    models.TextField(
                        choices=[
                            ("creating", "Creating"),
                            ("processing", "Processing"),
                            ("succeeded", "Succeeded"),
                            ("failed", "Failed"),
                            ("review", "Review"),
                        ],
                        default="creating",
                    ),
                ),
                ("failure_code", models.TextField(blank=True, null=True)),
                ("failure_reason", models.TextField(blank=True, null=True)),
                ("created_at", models.DateTimeField(db_default=Now())),
                ("checked_at", models.DateTimeField(blank=True, null=True)),
                ("next_check_at", models.DateTimeField(blank=True, null=True)),
                ("invoice", models.ForeignKey("billing.invoice", models.PROTECT, related_name="payments")),
                ("end_recorded_at", models.DateTimeField(editable=False, null=True)),
            ],
            options={
                "db_table": "billing_invoice_payment",
                "indexes": [
                    models.Index(
                        fields=["next_check_at"], condition=Q(next_check_at__isnull=False), name="invoice_payment_due"
                    )
                ],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("invoice",), condition=~Q(status="failed"), name="invoice_payment_one_at_a_time"
                    ),
                    models.UniqueConstraint(fields=("provider", "payment_ref"), name="invoice_payment_one_per_charge"),
                    models.CheckConstraint(
                        condition=Q(status__in=["creating", "processing", "succeeded", "failed", "review"]),
                        name="invoice_payment_status_known",
                    ),
                    models.CheckConstraint(
                        condition=Q(status="failed") ^ Q(failure_code__isnull=True) | Q(status="review"),
                        name="invoice_payment_failed_has_a_code",
                    ),
                    models.CheckConstraint(
                        condition=Q(status__in=("creating", "failed")) | Q(payment_ref__isnull=False),
                        name="invoice_payment_has_its_charge",
                    ),
                    models.CheckConstraint(condition=Q(amount_microusd__gt=0), name="invoice_payment_amount_min"),
                ],
            },
        ),
        migrations.CreateModel(
            name="UsageHorizon",
            fields=[
                ("id", models.SmallIntegerField(primary_key=True, serialize=False)),
                ("ends_at", models.DateTimeField()),
                ("calls", models.BigIntegerField()),
                ("moved_at", models.DateTimeField(db_default=Now())),
            ],
            options={
                "db_table": "billing_usage_horizon",
                "constraints": [models.CheckConstraint(condition=Q(id=1), name="usage_horizon_is_one")],
            },
        ),
        migrations.CreateModel(
            name="UsageSubject",
            fields=[
                ("id", models.BigAutoField(primary_key=True, serialize=False)),
                ("product", KeyField(null=True)),
                ("membership_id", KeyField(null=True)),
                ("actor_did", KeyField()),
                ("model", KeyField()),
                (
                    "wallet",
                    models.ForeignKey(
                        "billing.wallet", models.PROTECT, db_constraint=False, db_index=False, related_name="+"
                    ),
                ),
            ],
            options={
                "db_table": "billing_usage_subject",
                "constraints": [
                    models.UniqueConstraint(
                        fields=("wallet", "product", "membership_id", "actor_did", "model"),
                        name="usage_subject_once",
                        nulls_distinct=False,
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="UsageDay",
            fields=[
                (
                    "pk",
                    models.CompositePrimaryKey(
                        "subject_id",
                        "closed_on",
                        "begun_on",
                        blank=True,
                        editable=False,
                        primary_key=True,
                        serialize=False,
                    ),
                ),
                (
                    "subject",
                    models.ForeignKey(
                        "billing.usagesubject", models.PROTECT, db_constraint=False, db_index=False, related_name="days"
                    ),
                ),
                ("closed_on", models.DateField()),
                ("begun_on", models.DateField()),
                ("calls", models.BigIntegerField()),
                ("input_tokens", models.BigIntegerField()),
                ("output_tokens", models.BigIntegerField()),
                ("charges", models.BigIntegerField()),
                ("charged_microusd", MicrousdField()),
            ],
            options={
                "db_table": "billing_usage_day",
                "indexes": [
                    models.Index(
                        fields=["subject", "begun_on"],
                        condition=Q(closed_on__gt=models.F("begun_on")),
                        name="usage_day_of_late_calls",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="MatchedDay",
            fields=[
                ("id", models.BigAutoField(primary_key=True, serialize=False)),
                ("provider", KeyField()),
                ("is_live", models.BooleanField()),
                ("day", models.DateField()),
                ("reading", models.SmallIntegerField()),
                ("movements", models.IntegerField()),
                ("read_at", models.DateTimeField(db_default=Now())),
                ("matched_at", models.DateTimeField(blank=True, null=True)),
                ("recorded_at", models.DateTimeField(editable=False, null=True)),
            ],
            options={
                "db_table": "billing_matched_day",
                "indexes": [
                    models.Index(fields=["day"], condition=Q(matched_at__isnull=True), name="matched_day_waiting")
                ],
                "constraints": [
                    models.UniqueConstraint(fields=("provider", "is_live", "day", "reading"), name="matched_day_once")
                ],
            },
        ),
        migrations.CreateModel(
            name="PaymentDifference",
            fields=[
                ("id", models.BigAutoField(primary_key=True, serialize=False)),
                ("provider", KeyField()),
                ("is_live", models.BooleanField()),
                ("transaction_id", KeyField()),
                ("payment_ref", KeyField(blank=True, null=True)),
                (
                    "kind",
                    models.TextField(
                        choices=[
                            ("unknown", "Unknown here"),
                            ("not_booked", "Not booked here"),
                            ("not_there", "Not at the provider"),
                            ("taken_back", "Refund or dispute differs"),
                            ("amount", "Amount differs"),
                            ("currency", "Not in US dollars"),
                        ]
                    ),
                ),
                ("their_paid_microusd", MicrousdField()),
                ("their_kept_microusd", MicrousdField()),
                ("our_paid_microusd", MicrousdField()),
                ("our_kept_microusd", MicrousdField()),
                ("found_at", models.DateTimeField()),
                ("recorded_at", models.DateTimeField(editable=False, null=True)),
            ],
            options={
                "db_table": "billing_payment_difference",
                "indexes": [models.Index(fields=["transaction_id"], name="payment_difference_of_payment")],
            },
        ),
        migrations.CreateModel(
            name="DifferenceClosing",
            fields=[
                ("id", models.BigAutoField(primary_key=True, serialize=False)),
                ("reason", models.TextField()),
                ("closed_by", KeyField(blank=True, null=True)),
                ("closed_at", models.DateTimeField(db_default=Now())),
                (
                    "difference",
                    models.OneToOneField("billing.paymentdifference", models.PROTECT, related_name="closing"),
                ),
                ("recorded_at", models.DateTimeField(editable=False, null=True)),
            ],
            options={"db_table": "billing_difference_closing"},
        ),
        migrations.CreateModel(
            name="ProviderMovement",
            fields=[
                ("id", models.BigAutoField(primary_key=True, serialize=False)),
                ("provider", KeyField()),
                ("is_live", models.BooleanField()),
                ("ref", KeyField()),
                ("transaction_id", KeyField()),
                ("payment_ref", KeyField(blank=True, null=True)),
                ("is_payment", models.BooleanField()),
                ("amount_microusd", MicrousdField()),
                ("currency", KeyField()),
                ("moved_at", models.DateTimeField()),
                ("recorded_at", models.DateTimeField(editable=False, null=True)),
            ],
            options={
                "db_table": "billing_provider_movement",
                "indexes": [
                    models.Index(fields=["transaction_id"], name="provider_movement_of_payment"),
                    models.Index(fields=["payment_ref"], name="provider_movement_of_ref"),
                    models.Index(fields=["moved_at"], name="provider_movement_by_time"),
                ],
                "constraints": [
                    models.UniqueConstraint(fields=("provider", "ref"), name="provider_movement_stored_once")
                ],
            },
        ),
        migrations.CreateModel(
            name="LedgerMonth",
            fields=[
                ("month", models.DateField(primary_key=True, serialize=False)),
                ("created_at", models.DateTimeField(db_default=Now())),
            ],
            options={"db_table": "billing_ledger_month"},
        ),
        migrations.RunSQL(PRICES, migrations.RunSQL.noop, elidable=True),
        migrations.AddField("externalmapping", "created_at", models.DateTimeField(db_default=Now())),
        migrations.RunSQL(MAPPED_SINCE, migrations.RunSQL.noop, elidable=True),
        migrations.RunSQL(
            "ALTER INDEX reservation_closed SET (autosummarize = on)",
            "ALTER INDEX reservation_closed RESET (autosummarize)",
        ),
    ]
