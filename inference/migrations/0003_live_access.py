"""Asks for an organization's live access when a call is opened, and while its stream is open."""

from django.db import migrations

from gateway.sql import install


class Migration(migrations.Migration):
    dependencies = [
        ("accounts", "0004_liveness"),
        ("inference", "0002_functions"),
        ("organizations", "0002_functions"),
    ]

    operations = [install("inference", "open_call", "check_in")]
