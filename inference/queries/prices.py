"""Reads the price versions that calls can use, by model name."""

from collections import defaultdict
from collections.abc import Set
from datetime import datetime

from billing.models import PriceVersion as PriceVersionRow
from billing.rules.prices import PriceList
from inference.interface.model import PriceVersion


def versions_until(horizon: datetime, models: Set[str]) -> dict[str, tuple[PriceVersion, ...]]:
    """Read every version of these models in force now or before `horizon`, newest first."""
    found: dict[str, list[PriceVersion]] = defaultdict(list)
    rows = PriceVersionRow.objects.filter(alias__in=models, effective_at__lte=horizon)
    for row in rows.order_by("alias", "-effective_at"):
        found[row.alias].append(_version(row))
    return {alias: tuple(versions) for alias, versions in found.items()}


def _version(row: PriceVersionRow) -> PriceVersion:
    prices = PriceList.parse(row.components)
    return PriceVersion(
        id=row.pk,
        effective_at=row.effective_at,
        prices=prices,
        worst_case=prices.worst_case(),
        components=row.components,
    )
