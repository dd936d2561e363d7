"""Installs the question whether a token's holder may go on."""

from django.db import migrations

from gateway.sql import install


class Migration(migrations.Migration):
    dependencies = [("accounts", "0003_public_clients")]

    operations = [install("accounts", "liveness")]
