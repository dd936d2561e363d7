"""What an operator sees before a new price is published: each price that differs, and what it would have brought."""

from collections.abc import Mapping
from typing import Any

from billing.models import PriceVersion
from billing.queries.model_usage import DAYS
from billing.rules.price_impact import Impact, ModelUsage
from gateway.core.contract.amounts import decimals_of, usd
from inference.rules.price_reports import table

HEADINGS = ("USD per million", "Now", "New", "Change", "Look at")


def review_of(
    current: PriceVersion, components: Mapping[str, Any], usage: ModelUsage | None, brought: Impact | None
) -> dict[str, Any]:
    """Return the context of the review: the table of changes, and that of what the last days' usage would have brought."""
    rows = [[*prices, remark or "-"] for *prices, remark in table(current.components, components, ())]
    return {
        "current": current,
        "changes": {"headers": HEADINGS, "rows": rows},
        "days": DAYS,
        "usage": usage,
        "brought": _brought(usage, brought) if usage and brought else None,
    }


def _brought(usage: ModelUsage, brought: Impact) -> dict[str, Any]:
    amounts = (usage.charged_microusd, brought.now_microusd, brought.new_microusd, brought.difference_microusd)
    decimals = decimals_of(amounts)
    names = ("Charged in fact", "At the price in force", "At the new price", "Difference")
    return {
        "headers": ["By tokens and requests", "USD"],
        "rows": [[name, usd(amount, decimals)] for name, amount in zip(names, amounts, strict=True)],
    }
