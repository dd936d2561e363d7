"""Finds the calls that are under way, by what limits of calls at once count them by.

Each index is built while calls go on. A statement that was killed leaves an index that is not valid, so it is dropped first.
"""

from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models
from django.db.models import Q

UNDER_WAY = Q(closed_at__isnull=True, review_reason__isnull=True)


def unfinished(name: str) -> migrations.RunSQL:
    return migrations.RunSQL(f"DROP INDEX CONCURRENTLY IF EXISTS {name}", migrations.RunSQL.noop, elidable=True)


class Migration(migrations.Migration):
    atomic = False
    dependencies = [("billing", "0010_use_by_app")]

    operations = [
        unfinished("reservation_under_way"),
        AddIndexConcurrently(
            "call", models.Index(fields=["wallet"], condition=UNDER_WAY, name="reservation_under_way")
        ),
        unfinished("reservation_under_way_client"),
        AddIndexConcurrently(
            "call", models.Index(fields=["client_id"], condition=UNDER_WAY, name="reservation_under_way_client")
        ),
        unfinished("reservation_under_way_model"),
        AddIndexConcurrently(
            "call", models.Index(fields=["model"], condition=UNDER_WAY, name="reservation_under_way_model")
        ),
    ]
