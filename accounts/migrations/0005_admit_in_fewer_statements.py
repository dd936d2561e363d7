"""Asks for the account and for the epoch of the proofs in one statement."""

from django.db import migrations

from gateway.sql import install


class Migration(migrations.Migration):
    dependencies = [("accounts", "0004_liveness")]

    operations = [install("accounts", "admit")]
