"""Opened a call that comes alone without what several of them need. Changes no table."""

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("inference", "0006_batches")]

    operations = []
