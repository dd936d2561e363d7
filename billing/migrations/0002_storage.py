"""Tunes the hot tables and makes the ledger append-only."""

from django.db import migrations

from gateway.sql import install


class Migration(migrations.Migration):
    dependencies = [("billing", "0001_initial")]

    operations = [install("billing", "storage")]
