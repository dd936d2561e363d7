"""Installs the ledger's functions."""

from django.db import migrations

from gateway.sql import install


class Migration(migrations.Migration):
    dependencies = [("billing", "0002_storage")]

    operations = [
        install(
            "billing",
            "lock_wallet",
            "find_replay",
            "reserve",
            "dispatch",
            "unwind",
            "settle",
            "release",
            "review",
            "credits",
            "payments",
        )
    ]
