"""Finds organizations by the beginning of their name, and who was invited.

Each index is built while the gateway serves. A statement that was killed leaves an index that is not valid, so it is dropped first.
"""

from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models
from django.db.models import Q
from django.db.models.functions import Collate, Lower


def unfinished(name: str) -> migrations.RunSQL:
    return migrations.RunSQL(f"DROP INDEX CONCURRENTLY IF EXISTS {name}", migrations.RunSQL.noop, elidable=True)


class Migration(migrations.Migration):
    atomic = False
    dependencies = [("organizations", "0002_since_0_1")]

    operations = [
        unfinished("organization_by_name"),
        AddIndexConcurrently("organization", models.Index(Collate(Lower("name"), "C"), name="organization_by_name")),
        unfinished("invitation_by_email"),
        AddIndexConcurrently(
            "invitation", models.Index(Lower("email"), name="invitation_by_email", condition=Q(email__isnull=False))
        ),
    ]
