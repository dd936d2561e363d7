"""Wire format of the budgets that limit a token's calls."""

from collections.abc import Iterable
from datetime import datetime
from typing import Any

from rest_framework import serializers

from billing.models import Budget
from billing.rules.budgets import BudgetPeriod, BudgetScope
from gateway.core.api.times import rfc3339

SCOPES = [scope.value for scope in BudgetScope]
PERIODS = [period.value for period in BudgetPeriod]


class BudgetOverrideResponse(serializers.Serializer[Any]):
    """The limit that is in force until an instant, instead of the budget's own."""

    limitMicrousd = serializers.IntegerField()
    until = serializers.DateTimeField()


class OwnBudgetResponse(serializers.Serializer[Any]):
    """A budget that limits the token's calls, and what it has counted in its current period."""

    budgetId = serializers.CharField()
    scope = serializers.ChoiceField(SCOPES)
    product = serializers.CharField(allow_null=True)
    membershipId = serializers.CharField(allow_null=True)
    clientId = serializers.CharField(allow_null=True, help_text="The app whose calls it counts; null for all.")
    limitMicrousd = serializers.IntegerField()
    spentMicrousd = serializers.IntegerField()
    heldMicrousd = serializers.IntegerField()
    period = serializers.ChoiceField(PERIODS)
    periodStart = serializers.DateTimeField()
    periodEnd = serializers.DateTimeField()
    override = BudgetOverrideResponse(allow_null=True)
    status = serializers.ChoiceField(["active"])


class OwnBudgetListResponse(serializers.Serializer[Any]):
    """Newest first."""

    data = OwnBudgetResponse(many=True)  # type: ignore[assignment]


def render_budgets(budgets: Iterable[Budget], now: datetime) -> dict[str, Any]:
    """Render a list of enabled budgets."""
    return {"data": [_render_budget(budget, now) for budget in budgets]}


def _render_budget(budget: Budget, now: datetime) -> dict[str, Any]:
    start, end = budget.period_at(now)
    return {
        "budgetId": budget.id,
        "scope": budget.scope,
        "product": budget.product,
        "membershipId": budget.membership_id,
        "clientId": budget.client_id,
        "limitMicrousd": budget.limit_microusd,
        "spentMicrousd": budget.spent_at(now),
        "heldMicrousd": budget.held_microusd,
        "period": budget.period,
        "periodStart": rfc3339(start),
        "periodEnd": rfc3339(end),
        "override": _render_override(budget, now),
        "status": "active",
    }


def _render_override(budget: Budget, now: datetime) -> dict[str, Any] | None:
    until = budget.override_at(now)
    return None if until is None else {"limitMicrousd": budget.override_limit_microusd, "until": rfc3339(until)}
