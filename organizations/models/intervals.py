"""Half-open UTC intervals, the basis of seat billing. Those of one subject never overlap."""

from django.db import models
from django.db.models import F, Q


def interval_constraints(name: str) -> list[models.BaseConstraint]:
    """Return the constraints that all interval tables share. The first migration adds those against overlap."""
    return [
        models.CheckConstraint(
            condition=Q(ended_at__isnull=True) | Q(ended_at__gt=F("started_at")), name=f"{name}_ends_after_start"
        )
    ]
