"""Installed the ledger's functions, as every migrate does now."""

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("billing", "0002_storage")]

    operations = []
