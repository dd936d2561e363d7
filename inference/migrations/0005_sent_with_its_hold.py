"""Marks every call as sent together with its hold."""

from django.db import migrations

from gateway.sql import install


class Migration(migrations.Migration):
    dependencies = [("billing", "0006_lots_in_the_call"), ("inference", "0004_deadlines")]

    operations = [install("inference", "open_call")]
