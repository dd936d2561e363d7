"""Queries for an organization's usage in a month."""

from datetime import datetime

from billing.queries import reports
from billing.queries.snapshots import one_snapshot
from billing.rules.months import month_around, month_before
from organizations.rules.usage_summary import Summary, summarize


def summary(org_id: str, *, previous: bool, now: datetime) -> Summary:
    """Summarize the current or the previous UTC month, or raise OrgReportLimit."""
    owner = ("organization", org_id)
    month = month_before(now) if previous else month_around(now)
    with one_snapshot():
        return summarize(month, reports.usage(owner, month), reports.open_holds(owner))
