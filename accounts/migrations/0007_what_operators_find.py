"""Finds people by the beginning of their name, and the log's entries about a row.

Each index is built while the gateway serves. A statement that was killed leaves an index that is not valid, so it is dropped first.
"""

from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models
from django.db.models.functions import Collate, Lower


def unfinished(name: str) -> migrations.RunSQL:
    return migrations.RunSQL(f"DROP INDEX CONCURRENTLY IF EXISTS {name}", migrations.RunSQL.noop, elidable=True)


class Migration(migrations.Migration):
    atomic = False
    dependencies = [("accounts", "0006_notes"), ("admin", "0003_logentry_add_action_flag_choices")]

    operations = [
        unfinished("account_by_name"),
        AddIndexConcurrently("account", models.Index(Collate(Lower("display_name"), "C"), name="account_by_name")),
        unfinished("admin_log_of_row"),
        # The table is Django's own, so none of our models can state its index.
        migrations.RunSQL(
            "CREATE INDEX CONCURRENTLY admin_log_of_row ON django_admin_log (content_type_id, object_id, id DESC)",
            "DROP INDEX CONCURRENTLY IF EXISTS admin_log_of_row",
        ),
    ]
