"""Guards each table of money by one trigger that looks at statements, and closes a call under one lock of its wallet."""

from django.db import migrations

from gateway.sql import install

FORMER = {
    "transfer": ("transfer_append_only", "transfer_not_truncated"),
    "usage_record": ("usage_record_append_only", "usage_record_not_truncated"),
    "loss": ("loss_append_only", "loss_not_truncated"),
    "price_version": ("price_version_append_only", "price_version_not_truncated"),
    "seal": ("seal_append_only", "seal_not_truncated"),
    "wallet": ("wallet_not_deleted", "wallet_not_truncated", "wallet_keeps_its_owner"),
    "budget": ("budget_not_deleted", "budget_not_truncated"),
    "credit_lot": ("lot_not_deleted", "lot_not_truncated", "lot_keeps_its_grant"),
    "reservation": ("reservation_not_deleted", "reservation_not_truncated", "reservation_keeps_its_hold"),
    "checkout": ("checkout_not_deleted", "checkout_not_truncated"),
}

DROPS = "\n".join(
    f"DROP TRIGGER IF EXISTS {name} ON billing_{table};" for table, names in FORMER.items() for name in names
)


class Migration(migrations.Migration):
    dependencies = [("billing", "0009_bounded_work")]

    operations = [
        install("billing", "guards", "settle", "release", "close"),
        migrations.RunSQL(DROPS, migrations.RunSQL.noop),
    ]
