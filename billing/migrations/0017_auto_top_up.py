"""Automatic top-up: its terms for each wallet, its charges, and which saved payment methods were removed.

The new tables have no foreign keys to wallets, which calls would wait for.
"""

from django.db import migrations, models
from django.db.models import PROTECT
from django.db.models.functions import Now

from billing.models.fields import KeyField, MicrousdField
from gateway.core.database.migrations import RestartableMigration


class Migration(RestartableMigration):
    dependencies = [
        ("billing", "0016_saves_method"),
    ]

    operations = [
        migrations.CreateModel(
            name="AutoTopUp",
            fields=[
                (
                    "wallet",
                    models.OneToOneField(
                        db_constraint=False,
                        on_delete=PROTECT,
                        primary_key=True,
                        related_name="auto_top_up",
                        serialize=False,
                        to="billing.wallet",
                    ),
                ),
                ("is_enabled", models.BooleanField()),
                ("threshold_microusd", MicrousdField()),
                ("amount_microusd", MicrousdField()),
                ("monthly_limit_microusd", MicrousdField()),
                ("requested_by", KeyField()),
                ("paused_at", models.DateTimeField(blank=True, null=True)),
                ("pause_reason", KeyField(blank=True, null=True)),
                ("retry_at", models.DateTimeField(blank=True, null=True)),
                ("changed_at", models.DateTimeField(db_default=Now())),
            ],
            options={
                "verbose_name": "automatic top-up",
                "db_table": "billing_auto_top_up",
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            ("amount_microusd__gt", 0),
                            ("threshold_microusd__gt", 0),
                            ("monthly_limit_microusd__gte", models.F("amount_microusd")),
                        ),
                        name="auto_top_up_amounts",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("paused_at__isnull", True), ("pause_reason__isnull", False), _connector="XOR"
                        ),
                        name="auto_top_up_paused_for_a_reason",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="PaymentMethod",
            fields=[
                (
                    "checkout",
                    models.OneToOneField(
                        on_delete=PROTECT,
                        primary_key=True,
                        related_name="payment_method",
                        serialize=False,
                        to="billing.checkout",
                    ),
                ),
                ("label", models.TextField(blank=True, null=True)),
                ("removed_by", KeyField(blank=True, null=True)),
                ("removed_at", models.DateTimeField(blank=True, null=True)),
                ("forgotten_at", models.DateTimeField(blank=True, null=True)),
            ],
            options={
                "db_table": "billing_payment_method",
                "indexes": [
                    models.Index(
                        condition=models.Q(("forgotten_at__isnull", True), ("removed_at__isnull", False)),
                        fields=["removed_at"],
                        name="payment_method_to_forget",
                    )
                ],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("forgotten_at__isnull", True), ("removed_at__isnull", True)),
                            models.Q(("label__isnull", True), ("removed_at__isnull", False)),
                            _connector="OR",
                        ),
                        name="payment_method_removed_without_label",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="AutoTopUpCharge",
            fields=[
                ("id", KeyField(primary_key=True, serialize=False)),
                ("amount_microusd", MicrousdField()),
                ("requested_by", KeyField()),
                (
                    "status",
                    models.TextField(
                        choices=[
                            ("waiting", "Waiting"),
                            ("sending", "Sending"),
                            ("processing", "Processing"),
                            ("review", "Review"),
                            ("succeeded", "Succeeded"),
                            ("failed", "Failed"),
                        ],
                        default="waiting",
                    ),
                ),
                ("provider", KeyField(blank=True, null=True)),
                ("is_live", models.BooleanField(blank=True, null=True)),
                ("customer_ref", KeyField(blank=True, null=True)),
                ("method_ref", KeyField(blank=True, null=True)),
                ("payment_ref", KeyField(blank=True, null=True)),
                ("failure_code", models.TextField(blank=True, null=True)),
                ("failure_reason", models.TextField(blank=True, null=True)),
                ("created_at", models.DateTimeField(db_default=Now())),
                ("begun_at", models.DateTimeField(blank=True, null=True)),
                ("ended_at", models.DateTimeField(blank=True, null=True)),
                ("checked_at", models.DateTimeField(blank=True, null=True)),
                ("next_check_at", models.DateTimeField(blank=True, null=True)),
                (
                    "wallet",
                    models.ForeignKey(
                        db_constraint=False, db_index=False, on_delete=PROTECT, related_name="+", to="billing.wallet"
                    ),
                ),
            ],
            options={
                "verbose_name": "automatic charge",
                "db_table": "billing_auto_top_up_charge",
                "indexes": [
                    models.Index(
                        condition=models.Q(("next_check_at__isnull", False)),
                        fields=["next_check_at"],
                        name="auto_top_up_charge_due",
                    ),
                    models.Index(fields=["wallet", "ended_at"], name="auto_top_up_charge_of_month"),
                ],
                "constraints": [
                    models.UniqueConstraint(
                        condition=models.Q(("ended_at__isnull", True)),
                        fields=("wallet",),
                        name="auto_top_up_charge_one_at_a_time",
                    ),
                    models.UniqueConstraint(
                        fields=("provider", "payment_ref"), name="auto_top_up_charge_one_per_payment"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            (
                                "status__in",
                                ["waiting", "sending", "processing", "review", "succeeded", "failed"],
                            )
                        ),
                        name="auto_top_up_charge_status_known",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("amount_microusd__gt", 0)), name="auto_top_up_charge_amount_min"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("begun_at__isnull", True), ("status", "waiting")),
                            models.Q(
                                models.Q(("status", "waiting"), _negated=True),
                                ("begun_at__isnull", False),
                                ("customer_ref__isnull", False),
                                ("is_live__isnull", False),
                                ("method_ref__isnull", False),
                                ("provider__isnull", False),
                            ),
                            _connector="OR",
                        ),
                        name="auto_top_up_charge_begun_with_its_request",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("status__in", ("succeeded", "failed")),
                            ("ended_at__isnull", True),
                            _connector="XOR",
                        ),
                        name="auto_top_up_charge_ended_has_its_time",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("status__in", ("processing", "review", "succeeded")), _negated=True),
                            ("payment_ref__isnull", False),
                            _connector="OR",
                        ),
                        name="auto_top_up_charge_has_its_payment",
                    ),
                ],
            },
        ),
    ]
