"""Installs the access decision, the intervals' exclusion and the guard of the audit log."""

from django.db import migrations

from gateway.sql import install


class Migration(migrations.Migration):
    dependencies = [("organizations", "0001_initial")]

    operations = [install("organizations", "storage", "access")]
