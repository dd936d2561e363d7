"""Reads of what upstreams charge."""

from collections.abc import Collection
from datetime import datetime

from billing.models import CostVersion


def in_force(deployment: str, now: datetime) -> CostVersion | None:
    """Return the deployment's version in force at an instant, which may be that its cost is not known."""
    rows = CostVersion.objects.filter(deployment=deployment, effective_at__lte=now)
    return rows.order_by("-effective_at").first()


def newest(deployment: str) -> CostVersion | None:
    """Return the deployment's version that was published last."""
    return CostVersion.objects.filter(deployment=deployment).order_by("-effective_at").first()


def current(deployments: Collection[str], now: datetime) -> dict[str, CostVersion]:
    """Return the versions in force of these deployments, in one query."""
    rows = CostVersion.objects.filter(deployment__in=deployments, effective_at__lte=now)
    return {row.deployment: row for row in rows.order_by("deployment", "-effective_at").distinct("deployment")}
