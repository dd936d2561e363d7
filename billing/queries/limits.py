"""Reads the rate limits in force, and what is used of them."""

from billing.models import Limit
from billing.rules.limits import Limits, LimitScope, Quotas


def in_force() -> Limits:
    """Read every limit."""
    rows = Limit.objects.values_list("scope", "subject", "requests_per_minute", "tokens_per_minute", "concurrent")
    return Limits({(LimitScope(scope), subject): Quotas(*numbers) for scope, subject, *numbers in rows})
