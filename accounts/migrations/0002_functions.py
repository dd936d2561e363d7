"""Installs the functions that take proofs, and the guard of the store of taken ones."""

from django.db import migrations

from gateway.sql import install


class Migration(migrations.Migration):
    dependencies = [("accounts", "0001_initial")]

    operations = [install("accounts", "replay_epoch", "admit")]
