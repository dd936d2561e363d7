"""Finds a payment by the key of its request, and by the provider's id of a refund.

Each index is built while the gateway serves. A statement that was killed leaves an index that is not valid, so it is dropped first.
"""

from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models


def unfinished(name: str) -> migrations.RunSQL:
    return migrations.RunSQL(f"DROP INDEX CONCURRENTLY IF EXISTS {name}", migrations.RunSQL.noop, elidable=True)


class Migration(migrations.Migration):
    atomic = False
    dependencies = [("billing", "0019_what_waits")]

    operations = [
        unfinished("checkout_by_key"),
        AddIndexConcurrently("checkout", models.Index(fields=["idempotency_key"], name="checkout_by_key")),
        unfinished("provider_event_of_object"),
        AddIndexConcurrently("providerevent", models.Index(fields=["object_ref"], name="provider_event_of_object")),
    ]
