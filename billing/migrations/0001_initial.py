"""Makes the ledger's tables."""

import django.db.models.deletion
import django.db.models.functions.datetime
from django.db import migrations, models

import billing.models.fields


class Migration(migrations.Migration):
    initial = True

    dependencies = []

    operations = [
        migrations.CreateModel(
            name="PriceVersion",
            fields=[
                ("id", models.BigAutoField(primary_key=True, serialize=False)),
                ("alias", billing.models.fields.KeyField(db_collation="C")),
                ("components", models.JSONField()),
                ("effective_at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
            ],
            options={
                "db_table": "billing_price_version",
                "constraints": [
                    models.UniqueConstraint(fields=("alias", "effective_at"), name="price_one_per_instant")
                ],
            },
        ),
        migrations.CreateModel(
            name="Wallet",
            fields=[
                ("id", billing.models.fields.KeyField(db_collation="C", primary_key=True, serialize=False)),
                ("owner_kind", models.TextField(choices=[("account", "Account"), ("organization", "Organization")])),
                ("owner_key", billing.models.fields.KeyField(db_collation="C")),
                ("balance_microusd", billing.models.fields.MicrousdField(db_default=0)),
                ("held_microusd", billing.models.fields.MicrousdField(db_default=0)),
                ("debt_microusd", billing.models.fields.MicrousdField(db_default=0)),
                ("created_at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
            ],
            options={
                "db_table": "billing_wallet",
                "constraints": [
                    models.UniqueConstraint(fields=("owner_kind", "owner_key"), name="wallet_one_per_owner"),
                    models.CheckConstraint(
                        condition=models.Q(("owner_kind__in", ["account", "organization"])),
                        name="wallet_owner_kind_known",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("held_microusd__gte", 0), ("held_microusd__lte", models.F("balance_microusd"))
                        ),
                        name="wallet_holds_only_what_is_there",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("debt_microusd__gte", 0)), name="wallet_debt_not_negative"
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Reservation",
            fields=[
                ("id", billing.models.fields.KeyField(db_collation="C", primary_key=True, serialize=False)),
                ("actor_did", billing.models.fields.KeyField(db_collation="C")),
                ("org_id", billing.models.fields.KeyField(db_collation="C", null=True)),
                ("membership_id", billing.models.fields.KeyField(db_collation="C", null=True)),
                ("product", billing.models.fields.KeyField(db_collation="C", null=True)),
                ("client_id", billing.models.fields.KeyField(db_collation="C", null=True)),
                ("route", billing.models.fields.KeyField(db_collation="C")),
                ("model", billing.models.fields.KeyField(db_collation="C")),
                ("deployment", billing.models.fields.KeyField(db_collation="C", null=True)),
                ("request_id", billing.models.fields.KeyField(db_collation="C", null=True)),
                ("idempotency_key", billing.models.fields.KeyField(db_collation="C", null=True)),
                ("request_digest", models.BinaryField(null=True)),
                ("replayable", models.BooleanField()),
                (
                    "state",
                    models.TextField(
                        choices=[
                            ("reserved", "Reserved"),
                            ("dispatched", "Dispatched"),
                            ("review", "Review"),
                            ("settled", "Settled"),
                            ("released", "Released"),
                        ]
                    ),
                ),
                ("max_cost_microusd", billing.models.fields.MicrousdField()),
                ("hold_microusd", billing.models.fields.MicrousdField()),
                ("cash_held_microusd", billing.models.fields.MicrousdField()),
                ("charge_microusd", billing.models.fields.MicrousdField(null=True)),
                ("overrun_microusd", billing.models.fields.MicrousdField(db_default=0)),
                ("created_at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ("dispatched_at", models.DateTimeField(null=True)),
                ("deadline_at", models.DateTimeField(null=True)),
                ("closed_at", models.DateTimeField(null=True)),
                ("review_reason", models.TextField(null=True)),
                ("resolution", models.TextField(null=True)),
                ("evidence", models.JSONField(null=True)),
                (
                    "price_version",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        to="billing.priceversion",
                    ),
                ),
                (
                    "wallet",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="reservations",
                        to="billing.wallet",
                    ),
                ),
            ],
            options={
                "db_table": "billing_reservation",
            },
        ),
        migrations.CreateModel(
            name="CreditLot",
            fields=[
                ("id", billing.models.fields.KeyField(db_collation="C", primary_key=True, serialize=False)),
                ("product", billing.models.fields.KeyField(blank=True, db_collation="C", null=True)),
                ("granted_microusd", billing.models.fields.MicrousdField()),
                ("remaining_microusd", billing.models.fields.MicrousdField()),
                ("held_microusd", billing.models.fields.MicrousdField(db_default=0)),
                ("expires_at", models.DateTimeField(blank=True, null=True)),
                ("source_kind", models.TextField()),
                ("source_key", billing.models.fields.KeyField(db_collation="C")),
                ("created_at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ("closed_at", models.DateTimeField(blank=True, null=True)),
                (
                    "wallet",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="lots",
                        to="billing.wallet",
                    ),
                ),
            ],
            options={
                "db_table": "billing_credit_lot",
            },
        ),
        migrations.CreateModel(
            name="Budget",
            fields=[
                ("id", billing.models.fields.KeyField(db_collation="C", primary_key=True, serialize=False)),
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
                ("product", billing.models.fields.KeyField(db_collation="C", null=True)),
                ("membership_id", billing.models.fields.KeyField(db_collation="C", null=True)),
                ("limit_microusd", billing.models.fields.MicrousdField()),
                ("spent_microusd", billing.models.fields.MicrousdField(db_default=0)),
                ("held_microusd", billing.models.fields.MicrousdField(db_default=0)),
                ("period_start", models.DateField()),
                ("disabled_at", models.DateTimeField(null=True)),
                ("created_at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                (
                    "wallet",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="budgets",
                        to="billing.wallet",
                    ),
                ),
            ],
            options={
                "db_table": "billing_budget",
            },
        ),
        migrations.CreateModel(
            name="StoredReplay",
            fields=[
                (
                    "reservation",
                    models.OneToOneField(
                        db_constraint=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        primary_key=True,
                        related_name="stored_replay",
                        serialize=False,
                        to="billing.reservation",
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
                    "reservation",
                    models.OneToOneField(
                        db_constraint=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        primary_key=True,
                        related_name="usage_record",
                        serialize=False,
                        to="billing.reservation",
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
                ("charge_microusd", billing.models.fields.MicrousdField()),
                ("basis", models.TextField()),
                ("settled_at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
            ],
            options={
                "db_table": "billing_usage_record",
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("basis__in", ["upstream", "delivered", "operator"])),
                        name="usage_basis_known",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("charge_microusd__gte", 0)), name="usage_charge_not_negative"
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="LotAllocation",
            fields=[
                ("id", models.BigAutoField(primary_key=True, serialize=False)),
                ("position", models.SmallIntegerField()),
                ("amount_microusd", billing.models.fields.MicrousdField()),
                ("spent_microusd", billing.models.fields.MicrousdField(db_default=0)),
                (
                    "lot",
                    models.ForeignKey(
                        db_constraint=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="allocations",
                        to="billing.creditlot",
                    ),
                ),
                (
                    "reservation",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="lot_allocations",
                        to="billing.reservation",
                    ),
                ),
            ],
            options={
                "db_table": "billing_lot_allocation",
                "constraints": [
                    models.UniqueConstraint(fields=("reservation", "position"), name="lot_allocation_one_per_position"),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("amount_microusd__gt", 0),
                            ("spent_microusd__gte", 0),
                            ("spent_microusd__lte", models.F("amount_microusd")),
                        ),
                        name="lot_allocation_spent_within_amount",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Loss",
            fields=[
                ("id", models.BigAutoField(primary_key=True, serialize=False)),
                ("kind", models.TextField(choices=[("overrun", "Overrun"), ("unresolved", "Unresolved")])),
                ("amount_microusd", billing.models.fields.MicrousdField()),
                ("created_at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                (
                    "reservation",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="losses",
                        to="billing.reservation",
                    ),
                ),
            ],
            options={
                "verbose_name_plural": "losses",
                "db_table": "billing_loss",
                "constraints": [
                    models.UniqueConstraint(fields=("reservation", "kind"), name="loss_booked_once"),
                    models.CheckConstraint(condition=models.Q(("amount_microusd__gt", 0)), name="loss_amount_positive"),
                    models.CheckConstraint(
                        condition=models.Q(("kind__in", ["overrun", "unresolved"])), name="loss_kind_known"
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Transfer",
            fields=[
                ("id", models.BigAutoField(primary_key=True, serialize=False)),
                ("kind", models.TextField()),
                ("source", billing.models.fields.KeyField(db_collation="C")),
                ("seq", models.SmallIntegerField(db_default=0)),
                ("debit_account", billing.models.fields.KeyField(db_collation="C")),
                ("credit_account", billing.models.fields.KeyField(db_collation="C")),
                ("amount_microusd", billing.models.fields.MicrousdField()),
                ("created_at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                (
                    "wallet",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="transfers",
                        to="billing.wallet",
                    ),
                ),
            ],
            options={
                "db_table": "billing_transfer",
                "indexes": [models.Index(fields=["wallet", "created_at"], name="transfer_of_wallet")],
                "constraints": [
                    models.UniqueConstraint(fields=("source", "kind", "seq"), name="transfer_posted_once"),
                    models.CheckConstraint(
                        condition=models.Q(("amount_microusd__gt", 0)), name="transfer_amount_positive"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("debit_account", models.F("credit_account")), _negated=True),
                        name="transfer_between_two_accounts",
                    ),
                ],
            },
        ),
        migrations.AddIndex(
            model_name="reservation",
            index=models.Index(fields=["wallet", "created_at"], name="reservation_of_wallet"),
        ),
        migrations.AddIndex(
            model_name="reservation",
            index=models.Index(
                condition=models.Q(("closed_at__isnull", True)), fields=["created_at"], name="reservation_open"
            ),
        ),
        migrations.AddConstraint(
            model_name="reservation",
            constraint=models.UniqueConstraint(
                condition=models.Q(("replayable", True)),
                fields=("wallet", "route", "idempotency_key"),
                name="reservation_one_per_key",
            ),
        ),
        migrations.AddIndex(
            model_name="creditlot",
            index=models.Index(condition=models.Q(("closed_at__isnull", True)), fields=["wallet"], name="lot_open"),
        ),
        migrations.AddIndex(
            model_name="creditlot",
            index=models.Index(
                condition=models.Q(("closed_at__isnull", True), ("expires_at__isnull", False)),
                fields=["expires_at"],
                name="lot_expiring",
            ),
        ),
        migrations.AddConstraint(
            model_name="creditlot",
            constraint=models.UniqueConstraint(fields=("source_kind", "source_key"), name="lot_one_per_source"),
        ),
        migrations.AddConstraint(
            model_name="creditlot",
            constraint=models.CheckConstraint(
                condition=models.Q(("granted_microusd__gt", 0)), name="lot_grant_positive"
            ),
        ),
        migrations.AddConstraint(
            model_name="creditlot",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    ("held_microusd__gte", 0),
                    ("held_microusd__lte", models.F("remaining_microusd")),
                    ("remaining_microusd__lte", models.F("granted_microusd")),
                ),
                name="lot_held_within_remaining_within_granted",
            ),
        ),
        migrations.AddConstraint(
            model_name="creditlot",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("closed_at__isnull", True), ("remaining_microusd__gt", 0)),
                    models.Q(("closed_at__isnull", False), ("remaining_microusd", 0)),
                    _connector="OR",
                ),
                name="lot_closed_when_nothing_remains",
            ),
        ),
        migrations.AddConstraint(
            model_name="budget",
            constraint=models.UniqueConstraint(
                fields=("wallet", "product", "membership_id"), name="budget_one_per_subject", nulls_distinct=False
            ),
        ),
        migrations.AddConstraint(
            model_name="budget",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("membership_id__isnull", True), ("product__isnull", True), ("scope", "org")),
                    models.Q(("membership_id__isnull", True), ("product__isnull", False), ("scope", "product")),
                    models.Q(("membership_id__isnull", False), ("product__isnull", True), ("scope", "member")),
                    models.Q(("membership_id__isnull", False), ("product__isnull", False), ("scope", "member_product")),
                    _connector="OR",
                ),
                name="budget_subject_fits_scope",
            ),
        ),
        migrations.AddConstraint(
            model_name="budget",
            constraint=models.CheckConstraint(
                condition=models.Q(("held_microusd__gte", 0), ("limit_microusd__gte", 0), ("spent_microusd__gte", 0)),
                name="budget_amounts_not_negative",
            ),
        ),
    ]
