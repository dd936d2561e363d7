"""Opens a call that comes alone without what several of them need."""

from django.db import migrations

from gateway.sql import install


class Migration(migrations.Migration):
    dependencies = [("inference", "0006_batches")]

    operations = [install("inference", "open_call")]
