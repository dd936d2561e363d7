"""Half-open UTC intervals that never overlap for one subject; seat billing counts them."""

from django.db import models
from django.db.models import F, Q


def interval_constraints(name: str) -> list[models.BaseConstraint]:
    """Make the constraints that every interval table has; `sql/storage.sql` excludes overlap."""
    return [
        models.CheckConstraint(
            condition=Q(ended_at__isnull=True) | Q(ended_at__gt=F("started_at")), name=f"{name}_ends_after_start"
        )
    ]
