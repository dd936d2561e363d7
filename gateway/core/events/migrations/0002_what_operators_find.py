"""Finds what was sent to an address.

The index is built while the gateway serves. A statement that was killed leaves an index that is not valid, so it is dropped first.
"""

from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models
from django.db.models import F
from django.db.models.functions import Lower

NAME = "mail_newest_of_address"


class Migration(migrations.Migration):
    atomic = False
    dependencies = [("events", "0001_events")]

    operations = [
        migrations.RunSQL(f"DROP INDEX CONCURRENTLY IF EXISTS {NAME}", migrations.RunSQL.noop, elidable=True),
        AddIndexConcurrently("mail", models.Index(Lower("to"), F("id").desc(), name=NAME)),
    ]
