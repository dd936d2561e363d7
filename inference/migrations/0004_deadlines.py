"""Marks a call as sent with its hold where nobody waits for the wallet, and lets a stream move its deadline out."""

from django.db import migrations

from gateway.sql import install


class Migration(migrations.Migration):
    dependencies = [("inference", "0003_live_access")]

    operations = [install("inference", "open_call", "check_in")]
