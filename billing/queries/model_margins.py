"""Reads what one model earned and cost in the last days, by deployment."""

from datetime import datetime, timedelta

from django.db.models import Sum

from billing.models import MarginDay
from billing.rules.margins import Margin

SUMS = ("calls", "charged_microusd", "cost_microusd", "uncosted_calls", "uncosted_charged_microusd")


def last_days(model: str, days: int, now: datetime) -> dict[str | None, Margin]:
    """Sum the model's calls that closed in the last days, as far as they are summed up, by deployment."""
    rows = MarginDay.objects.filter(closed_on__gte=(now - timedelta(days=days)).date(), model=model)
    sums = rows.values_list("deployment").annotate(*(Sum(name) for name in SUMS)).order_by("deployment")
    return {deployment: Margin(*map(int, found)) for deployment, *found in sums}
