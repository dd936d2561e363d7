"""Installed the functions that take proofs, as every migrate does now."""

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("accounts", "0001_initial")]

    operations = []
