"""Had live access asked for when a call is opened. Changes no table."""

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [
        ("accounts", "0004_liveness"),
        ("inference", "0002_functions"),
        ("organizations", "0002_functions"),
    ]

    operations = []
