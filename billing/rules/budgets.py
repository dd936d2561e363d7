"""Whose calls a budget counts, and the periods for which it counts them."""

from datetime import UTC, date, datetime, timedelta
from enum import StrEnum
from typing import NamedTuple

from billing.rules.months import month_around
from billing.rules.owners import Owner


class BudgetScope(StrEnum):
    """What a budget counts. Of an organization: everything, a product, a member, or a member's use of a product. Of an
    account: everything, or what one app spends.
    """

    ORG = "org"
    PRODUCT = "product"
    MEMBER = "member"
    MEMBER_PRODUCT = "member_product"
    ACCOUNT = "account"
    CLIENT = "client"


class BudgetPeriod(StrEnum):
    """How long a budget counts before it begins again: a UTC day, an ISO week, or a UTC calendar month."""

    DAY = "day"
    WEEK = "week"
    MONTH = "month"


class Subject(NamedTuple):
    """Whose calls count: those of the owner's wallet, or only those of a product, a member, or an app (public client)."""

    owner: Owner
    product: str | None = None
    membership_id: str | None = None
    client_id: str | None = None

    @property
    def scope(self) -> BudgetScope:
        """Return the subject's scope."""
        if self.owner[0] == "account":
            return BudgetScope.ACCOUNT if self.client_id is None else BudgetScope.CLIENT
        if self.membership_id is None:
            return BudgetScope.ORG if self.product is None else BudgetScope.PRODUCT
        return BudgetScope.MEMBER if self.product is None else BudgetScope.MEMBER_PRODUCT


def begin_of(period: str, now: datetime) -> date:
    """Return the first day of the period that an instant is in."""
    return period_around(period, now)[0].date()


def period_around(period: str, now: datetime) -> tuple[datetime, datetime]:
    """Return the period that an instant is in, half-open. A week begins on Monday, as in ISO 8601."""
    if period == BudgetPeriod.MONTH:
        return month_around(now)
    midnight = now.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    if period == BudgetPeriod.DAY:
        return midnight, midnight + timedelta(days=1)
    monday = midnight - timedelta(days=midnight.weekday())
    return monday, monday + timedelta(weeks=1)
