"""Adds invoices of seats, the attempts to collect them, credit notes, and the dated prices of seats.

The prices that the catalogue has now are those of every earlier month, for nothing was billed before.
"""

import django.db.models.deletion
import django.db.models.functions.datetime
from django.db import migrations, models

import billing.models.fields

PRICES = """
INSERT INTO billing_seat_price (product, price_microusd, effective_at)
SELECT slug, seat_price_microusd, clock_timestamp() FROM accounts_product
"""
MAPPED_SINCE = "UPDATE billing_external_mapping SET created_at = verified_at"


class Migration(migrations.Migration):
    dependencies = [
        ("accounts", "0010_help_texts"),
        ("billing", "0013_takeover"),
    ]

    operations = [
        migrations.AddField(
            model_name="externalmapping",
            name="created_at",
            field=models.DateTimeField(db_default=django.db.models.functions.datetime.Now()),
        ),
        migrations.CreateModel(
            name="Invoice",
            fields=[
                ("id", billing.models.fields.KeyField(db_collation="C", primary_key=True, serialize=False)),
                ("org_id", billing.models.fields.KeyField(db_collation="C")),
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
                ("total_microusd", billing.models.fields.MicrousdField()),
                ("due_microusd", billing.models.fields.MicrousdField()),
                ("created_at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ("issued_at", models.DateTimeField(blank=True, null=True)),
                ("paid_at", models.DateTimeField(blank=True, null=True)),
                ("voided_at", models.DateTimeField(blank=True, null=True)),
                ("void_reason", models.TextField(blank=True, null=True)),
                ("next_attempt_at", models.DateTimeField(blank=True, null=True)),
            ],
            options={
                "db_table": "billing_invoice",
                "indexes": [
                    models.Index(fields=["org_id", "-period_start"], name="invoice_of_organization"),
                    models.Index(
                        condition=models.Q(("next_attempt_at__isnull", False)),
                        fields=["next_attempt_at"],
                        name="invoice_to_collect",
                    ),
                    models.Index(condition=models.Q(("status", "open")), fields=["issued_at"], name="invoice_unpaid"),
                    models.Index(
                        condition=models.Q(("status", "past_due")), fields=["org_id"], name="invoice_past_due"
                    ),
                    models.Index(
                        condition=models.Q(("status", "draft")),
                        fields=["period_start", "org_id"],
                        name="invoice_drafts",
                    ),
                ],
                "constraints": [
                    models.UniqueConstraint(
                        condition=models.Q(("status", "void"), _negated=True),
                        fields=("org_id", "period_start"),
                        name="invoice_one_per_month",
                    ),
                    models.UniqueConstraint(fields=("serial",), name="invoice_one_per_serial"),
                    models.CheckConstraint(
                        condition=models.Q(("status__in", ["draft", "open", "past_due", "paid", "void"])),
                        name="invoice_status_known",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("issued_at__isnull", True), ("serial__isnull", True), ("status", "void")),
                            models.Q(("issued_at__isnull", True), ("serial__isnull", True), ("status", "draft")),
                            models.Q(
                                models.Q(("status", "draft"), _negated=True),
                                ("issued_at__isnull", False),
                                ("serial__isnull", False),
                            ),
                            _connector="OR",
                        ),
                        name="invoice_serial_once_issued",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("paid_at__isnull", True), ("status", "paid"), _connector="XOR"),
                        name="invoice_paid_has_its_time",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("status", "void"), ("void_reason__isnull", False), ("voided_at__isnull", False)),
                            models.Q(
                                models.Q(("status", "void"), _negated=True),
                                ("void_reason__isnull", True),
                                ("voided_at__isnull", True),
                            ),
                            _connector="OR",
                        ),
                        name="invoice_void_has_a_reason",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("due_microusd__gte", 0), ("due_microusd__lte", models.F("total_microusd"))),
                        name="invoice_due_within_total",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("next_attempt_at__isnull", True), ("status__in", ("open", "past_due")), _connector="OR"
                        ),
                        name="invoice_attempts_while_unpaid",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="SeatPrice",
            fields=[
                ("id", models.BigAutoField(primary_key=True, serialize=False)),
                ("product", billing.models.fields.KeyField(db_collation="C")),
                ("price_microusd", billing.models.fields.MicrousdField()),
                ("effective_at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
            ],
            options={
                "db_table": "billing_seat_price",
                "constraints": [
                    models.UniqueConstraint(fields=("product", "effective_at"), name="seat_price_one_per_instant"),
                    models.CheckConstraint(condition=models.Q(("price_microusd__gte", 0)), name="seat_price_min"),
                ],
            },
        ),
        migrations.CreateModel(
            name="CreditNote",
            fields=[
                ("id", billing.models.fields.KeyField(db_collation="C", primary_key=True, serialize=False)),
                ("serial", models.BigIntegerField()),
                ("amount_microusd", billing.models.fields.MicrousdField()),
                ("reason", models.TextField()),
                ("created_by", billing.models.fields.KeyField(db_collation="C")),
                ("created_at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                (
                    "invoice",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="credit_notes", to="billing.invoice"
                    ),
                ),
            ],
            options={
                "db_table": "billing_credit_note",
                "constraints": [
                    models.UniqueConstraint(fields=("serial",), name="credit_note_one_per_serial"),
                    models.CheckConstraint(
                        condition=models.Q(("amount_microusd__gt", 0)), name="credit_note_amount_min"
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="InvoiceLine",
            fields=[
                ("id", models.BigAutoField(primary_key=True, serialize=False)),
                ("product", billing.models.fields.KeyField(db_collation="C")),
                ("price_microusd", billing.models.fields.MicrousdField()),
                ("seat_days", models.IntegerField()),
                ("amount_microusd", billing.models.fields.MicrousdField()),
                (
                    "invoice",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="lines",
                        to="billing.invoice",
                    ),
                ),
            ],
            options={
                "db_table": "billing_invoice_line",
                "ordering": ("product",),
                "constraints": [
                    models.UniqueConstraint(fields=("invoice", "product"), name="invoice_line_one_per_product"),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("amount_microusd__gte", 0), ("price_microusd__gte", 0), ("seat_days__gt", 0)
                        ),
                        name="invoice_line_min",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="InvoicePayment",
            fields=[
                ("id", billing.models.fields.KeyField(db_collation="C", primary_key=True, serialize=False)),
                ("amount_microusd", billing.models.fields.MicrousdField()),
                ("provider", billing.models.fields.KeyField(db_collation="C")),
                ("is_live", models.BooleanField()),
                ("customer_ref", billing.models.fields.KeyField(db_collation="C")),
                ("method_ref", billing.models.fields.KeyField(db_collation="C")),
                ("requested_by", billing.models.fields.KeyField(blank=True, db_collation="C", null=True)),
                ("payment_ref", billing.models.fields.KeyField(blank=True, db_collation="C", null=True)),
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
                ("created_at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ("checked_at", models.DateTimeField(blank=True, null=True)),
                ("next_check_at", models.DateTimeField(blank=True, null=True)),
                (
                    "invoice",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="payments", to="billing.invoice"
                    ),
                ),
            ],
            options={
                "db_table": "billing_invoice_payment",
                "indexes": [
                    models.Index(
                        condition=models.Q(("next_check_at__isnull", False)),
                        fields=["next_check_at"],
                        name="invoice_payment_due",
                    )
                ],
                "constraints": [
                    models.UniqueConstraint(
                        condition=models.Q(("status", "failed"), _negated=True),
                        fields=("invoice",),
                        name="invoice_payment_one_at_a_time",
                    ),
                    models.UniqueConstraint(fields=("provider", "payment_ref"), name="invoice_payment_one_per_charge"),
                    models.CheckConstraint(
                        condition=models.Q(("status__in", ["creating", "processing", "succeeded", "failed", "review"])),
                        name="invoice_payment_status_known",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("status", "failed"), ("failure_code__isnull", True), _connector="XOR"),
                            ("status", "review"),
                            _connector="OR",
                        ),
                        name="invoice_payment_failed_has_a_code",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("status__in", ("creating", "failed")), ("payment_ref__isnull", False), _connector="OR"
                        ),
                        name="invoice_payment_has_its_charge",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("amount_microusd__gt", 0)), name="invoice_payment_amount_min"
                    ),
                ],
            },
        ),
        migrations.RunSQL(PRICES, migrations.RunSQL.noop),
        migrations.RunSQL(MAPPED_SINCE, migrations.RunSQL.noop),
    ]
