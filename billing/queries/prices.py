"""Reads of prices."""

from datetime import datetime

from billing.models import PriceVersion


def in_force(alias: str, now: datetime) -> PriceVersion | None:
    """Return the alias's version in force at an instant."""
    return PriceVersion.objects.filter(alias=alias, effective_at__lte=now).order_by("-effective_at").first()


def newest(alias: str) -> PriceVersion | None:
    """Return the alias's version that was published last."""
    return PriceVersion.objects.filter(alias=alias).order_by("-effective_at").first()


def current(now: datetime) -> dict[str, PriceVersion]:
    """Return the version in force of every alias that has one, in one query."""
    rows = PriceVersion.objects.filter(effective_at__lte=now).order_by("alias", "-effective_at").distinct("alias")
    return {row.alias: row for row in rows}
