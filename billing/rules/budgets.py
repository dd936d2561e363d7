"""The scope of a budget, and its spending in the current month."""

from datetime import UTC, date, datetime
from enum import StrEnum


class BudgetScope(StrEnum):
    """What a budget counts: everything, a product, a member, or a member's use of a product."""

    ORG = "org"
    PRODUCT = "product"
    MEMBER = "member"
    MEMBER_PRODUCT = "member_product"


def scope_of(product: str | None, membership_id: str | None) -> BudgetScope:
    """Return the scope of a subject: everything, a product, a member, or a member's use of a product."""
    if membership_id is None:
        return BudgetScope.ORG if product is None else BudgetScope.PRODUCT
    return BudgetScope.MEMBER if product is None else BudgetScope.MEMBER_PRODUCT


def month_of(now: datetime) -> date:
    """Return the first day of the UTC calendar month."""
    return now.astimezone(UTC).date().replace(day=1)


def spent_microusd(stored: int, period_start: date, now: datetime) -> int:
    """Return the spending of the current month: the stored value, or 0 if the row counts an earlier month."""
    return stored if period_start >= month_of(now) else 0
