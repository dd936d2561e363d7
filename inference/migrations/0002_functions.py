"""Installs the first statement of a metered call."""

from django.db import migrations

from gateway.sql import install


class Migration(migrations.Migration):
    dependencies = [
        ("accounts", "0002_functions"),
        ("billing", "0003_functions"),
        ("inference", "0001_initial"),
    ]

    operations = [install("inference", "open_call")]
