"""Adds checkouts, the events of payment providers and external mappings, and what takes payments back."""

import django.db.models.functions.datetime
from django.db import migrations, models

import billing.models.fields


class Migration(migrations.Migration):
    dependencies = [
        ("billing", "0004_calls_of_wallet"),
    ]

    operations = [
        migrations.CreateModel(
            name="Checkout",
            fields=[
                ("id", billing.models.fields.KeyField(db_collation="C", primary_key=True, serialize=False)),
                ("owner_kind", models.TextField(choices=[("account", "Account"), ("organization", "Organization")])),
                ("owner_key", billing.models.fields.KeyField(db_collation="C")),
                ("kind", models.TextField(choices=[("top_up", "Top Up"), ("payment_method", "Payment Method")])),
                ("product", billing.models.fields.KeyField(blank=True, db_collation="C", null=True)),
                ("amount_microusd", billing.models.fields.MicrousdField(blank=True, null=True)),
                ("idempotency_key", billing.models.fields.KeyField(db_collation="C")),
                ("requested_by", billing.models.fields.KeyField(db_collation="C")),
                ("provider", billing.models.fields.KeyField(db_collation="C")),
                ("is_live", models.BooleanField()),
                ("session_ref", billing.models.fields.KeyField(blank=True, db_collation="C", null=True)),
                ("payment_ref", billing.models.fields.KeyField(blank=True, db_collation="C", null=True)),
                ("customer_ref", billing.models.fields.KeyField(blank=True, db_collation="C", null=True)),
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
                ("taken_back_microusd", billing.models.fields.MicrousdField(default=0)),
                ("movements", models.IntegerField(default=0)),
                ("checks", models.IntegerField(default=0)),
                ("created_at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ("expires_at", models.DateTimeField(blank=True, null=True)),
                ("paid_at", models.DateTimeField(blank=True, null=True)),
                ("checked_at", models.DateTimeField(blank=True, null=True)),
                ("next_check_at", models.DateTimeField(blank=True, null=True)),
            ],
            options={
                "db_table": "billing_checkout",
                "indexes": [
                    models.Index(
                        condition=models.Q(("next_check_at__isnull", False)),
                        fields=["next_check_at"],
                        name="checkout_due",
                    ),
                    models.Index(
                        condition=models.Q(("payment_ref__isnull", False)),
                        fields=["payment_ref"],
                        name="checkout_of_payment",
                    ),
                    models.Index(fields=["-created_at"], name="checkout_newest_first"),
                    models.Index(
                        condition=models.Q(("taken_back_microusd__gt", 0)),
                        fields=["owner_kind", "owner_key"],
                        name="checkout_taken_back",
                    ),
                ],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("owner_kind", "owner_key", "idempotency_key"), name="checkout_one_per_owner_and_key"
                    ),
                    models.UniqueConstraint(fields=("provider", "session_ref"), name="checkout_one_per_session"),
                    models.CheckConstraint(
                        condition=models.Q(("owner_kind__in", ["account", "organization"])),
                        name="checkout_owner_kind_known",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("status__in", ["creating", "open", "paid", "completed", "expired", "review"])
                        ),
                        name="checkout_status_known",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(
                                ("amount_microusd__gt", 0), ("amount_microusd__isnull", False), ("kind", "top_up")
                            ),
                            models.Q(
                                ("amount_microusd__isnull", True), ("kind", "payment_method"), ("product__isnull", True)
                            ),
                            _connector="OR",
                        ),
                        name="checkout_kind_has_its_amount",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("status__in", ["creating", "expired"]),
                            models.Q(("session_ref__isnull", False), ("url__isnull", False)),
                            _connector="OR",
                        ),
                        name="checkout_session_once_created",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("paid_at__isnull", True),
                            models.Q(("kind", "top_up"), ("status", "paid")),
                            _connector="XOR",
                        ),
                        name="checkout_paid_has_its_time",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("status", "completed"), _negated=True),
                            ("kind", "payment_method"),
                            _connector="OR",
                        ),
                        name="checkout_completed_keeps_a_method",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("status", "review"), _negated=True),
                            ("review_reason__isnull", False),
                            _connector="OR",
                        ),
                        name="checkout_review_has_a_reason",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("taken_back_microusd", 0),
                            models.Q(
                                ("status", "paid"),
                                ("taken_back_microusd__gt", 0),
                                ("taken_back_microusd__lte", models.F("amount_microusd")),
                            ),
                            _connector="OR",
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
                ("org_id", billing.models.fields.KeyField(db_collation="C")),
                ("product", billing.models.fields.KeyField(db_collation="C")),
                ("provider", billing.models.fields.KeyField(db_collation="C")),
                ("external_org_id", billing.models.fields.KeyField(db_collation="C")),
                ("mode", models.TextField(choices=[("test", "Test"), ("live", "Live")])),
                ("verified_by", billing.models.fields.KeyField(db_collation="C")),
                ("verified_at", models.DateTimeField()),
            ],
            options={
                "db_table": "billing_external_mapping",
                "constraints": [
                    models.UniqueConstraint(fields=("org_id", "product"), name="external_mapping_one_per_product"),
                    models.UniqueConstraint(
                        fields=("provider", "external_org_id", "product"), name="external_mapping_one_organization"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("mode__in", ["test", "live"])), name="external_mapping_mode_known"
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="ProviderEvent",
            fields=[
                ("id", models.BigAutoField(primary_key=True, serialize=False)),
                ("provider", billing.models.fields.KeyField(db_collation="C")),
                ("event_id", billing.models.fields.KeyField(db_collation="C")),
                ("type", billing.models.fields.KeyField(db_collation="C")),
                ("object_ref", billing.models.fields.KeyField(db_collation="C")),
                ("payment_ref", billing.models.fields.KeyField(blank=True, db_collation="C", null=True)),
                ("transaction_id", billing.models.fields.KeyField(blank=True, db_collation="C", null=True)),
                ("checkout_id", billing.models.fields.KeyField(blank=True, db_collation="C", null=True)),
                ("received_at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ("handled_at", models.DateTimeField(blank=True, null=True)),
            ],
            options={
                "db_table": "billing_provider_event",
                "indexes": [
                    models.Index(
                        condition=models.Q(("handled_at__isnull", True)),
                        fields=["received_at"],
                        name="provider_event_waiting",
                    ),
                    models.Index(fields=["-received_at"], name="provider_event_newest_first"),
                ],
                "constraints": [
                    models.UniqueConstraint(fields=("provider", "event_id"), name="provider_event_stored_once")
                ],
            },
        ),
    ]
