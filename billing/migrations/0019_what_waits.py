"""Finds the payments in review and the wallets in debt, which every page of the console counts.

Each index is built while calls go on. A statement that was killed leaves an index that is not valid, so it is dropped first.
"""

from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models
from django.db.models import Q


def unfinished(name: str) -> migrations.RunSQL:
    return migrations.RunSQL(f"DROP INDEX CONCURRENTLY IF EXISTS {name}", migrations.RunSQL.noop, elidable=True)


class Migration(migrations.Migration):
    atomic = False
    dependencies = [("billing", "0018_active_days")]

    operations = [
        unfinished("checkout_in_review"),
        AddIndexConcurrently(
            "checkout", models.Index(fields=["created_at"], condition=Q(status="review"), name="checkout_in_review")
        ),
        unfinished("wallet_in_debt"),
        AddIndexConcurrently(
            "wallet", models.Index(fields=["debt_microusd"], condition=Q(debt_microusd__gt=0), name="wallet_in_debt")
        ),
    ]
