"""What an owner used in the current UTC month."""

from datetime import datetime

from billing.queries import usage_reports
from billing.rules.months import month_around
from billing.rules.owners import Owner


def charged_microusd(owner: Owner, now: datetime) -> int:
    """Sum up what the ledger charged for calls this month, whenever they were begun."""
    return usage_reports.total(owner, month_around(now)).charged_microusd
