"""An owner's charges in the current UTC month."""

from datetime import datetime

from billing.queries import usage_reports
from billing.rules.months import month_around
from billing.rules.owners import Owner


def charged_microusd(owner: Owner, now: datetime) -> int:
    """Sum the charges that the ledger posted this month, whenever their calls began."""
    return usage_reports.total(owner, month_around(now)).charged_microusd
