"""Records that models are no longer offered, for those who used them."""

from collections.abc import Collection
from datetime import datetime, timedelta

from django.db import transaction

from billing.queries import model_users
from gateway.core.events.operations.in_order import Happened, record

USED_WITHIN = timedelta(days=30)


@transaction.atomic
def retire(names: Collection[str], *, now: datetime) -> int:
    """Record for each owner whose calls used one of the models within the last 30 days that it is retired; return how many
    times. The caller has disabled or deleted them."""
    used = model_users.owners(names, since=(now - USED_WITHIN).date())
    record([Happened(kind, key, "model.retired", {"model": name}, now=now) for (kind, key), name in used])
    return len(used)
