"""Installed the first statement of a metered call, as every migrate does now."""

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [
        ("accounts", "0002_functions"),
        ("billing", "0003_functions"),
        ("inference", "0001_initial"),
    ]

    operations = []
