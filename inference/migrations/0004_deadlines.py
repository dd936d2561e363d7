"""Allow a stream to move its deadline out. Changes no table."""

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("inference", "0003_live_access")]

    operations = []
