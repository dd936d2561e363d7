"""Installed the question whether a token's holder may go on. Changes no table."""

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("accounts", "0003_public_clients")]

    operations = []
