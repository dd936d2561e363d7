"""Marked every call as sent together with its hold. Changes no table."""

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("billing", "0006_lots_in_the_call"), ("inference", "0004_deadlines")]

    operations = []
