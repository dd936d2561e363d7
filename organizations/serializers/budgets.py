"""Wire formats of an organization's budgets."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from billing.models import Budget
from billing.operations.budgets import KEEP, NewOverride, Override
from billing.rules.budgets import BudgetPeriod, BudgetScope
from gateway.core.api.serializers import StrictIntegerField, StrictSerializer, StrictStringField, StrictTimeField
from gateway.core.api.times import rfc3339
from gateway.core.contract.limits import BUDGET_LIMIT_MAX_MICROUSD

OF_PRODUCT = (BudgetScope.PRODUCT, BudgetScope.MEMBER_PRODUCT)
OF_MEMBER = (BudgetScope.MEMBER, BudgetScope.MEMBER_PRODUCT)
SCOPES = [scope.value for scope in (BudgetScope.ORG, BudgetScope.PRODUCT, *OF_MEMBER)]
PERIODS = [period.value for period in BudgetPeriod]


class OverrideRequest(StrictSerializer):
    """Another limit until an instant, which must be in the future."""

    limitMicrousd = StrictIntegerField(min_value=0, max_value=BUDGET_LIMIT_MAX_MICROUSD)
    until = StrictTimeField()


class BudgetRequest(StrictSerializer):
    """The body of PUT …/budgets. `product` and `membershipId` are required for scopes that name them, and refused for
    others.
    """

    scope = serializers.ChoiceField(SCOPES)
    limitMicrousd = StrictIntegerField(min_value=0, max_value=BUDGET_LIMIT_MAX_MICROUSD)
    product = StrictStringField(max_length=64, required=False, allow_null=True)
    membershipId = StrictStringField(max_length=40, required=False, allow_null=True)
    period = serializers.ChoiceField(PERIODS, required=False, help_text="By default, month.")
    override = OverrideRequest(required=False, allow_null=True)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Check that the subject fits the scope."""
        for name, scopes in (("product", OF_PRODUCT), ("membershipId", OF_MEMBER)):
            if (attrs.get(name) is not None) != (attrs["scope"] in scopes):
                raise serializers.ValidationError({name: [f"Required for, and only for, {' and '.join(scopes)}."]})
        return attrs


def override_of(body: Mapping[str, Any]) -> NewOverride:
    """Return what a request's body says about the override."""
    if "override" not in body:
        return KEEP
    given = body["override"]
    return None if given is None else Override(given["limitMicrousd"], given["until"])


class OverrideResponse(serializers.Serializer[Any]):
    """The limit that is in force until it ends."""

    limitMicrousd = serializers.IntegerField()
    until = serializers.DateTimeField()


class BudgetResponse(serializers.Serializer[Any]):
    """A budget in the period that the context's `now` is in, in UTC. A week is one of ISO 8601, from Monday."""

    budgetId = serializers.CharField(source="id")
    scope = serializers.ChoiceField(SCOPES)
    product = serializers.CharField(allow_null=True)
    membershipId = serializers.CharField(source="membership_id", allow_null=True)
    limitMicrousd = serializers.IntegerField(source="limit_microusd")
    spentMicrousd = serializers.SerializerMethodField("get_spent")
    heldMicrousd = serializers.IntegerField(source="held_microusd")
    period = serializers.ChoiceField(PERIODS)
    periodStart = serializers.SerializerMethodField("get_start")
    periodEnd = serializers.SerializerMethodField("get_end")
    override = serializers.SerializerMethodField()
    status = serializers.SerializerMethodField()

    def get_spent(self, budget: Budget) -> int:
        """Return the amount spent in this period."""
        return budget.spent_at(self._now)

    @extend_schema_field(OpenApiTypes.DATETIME)
    def get_start(self, budget: Budget) -> str:
        """Return when this period began."""
        return rfc3339(budget.period_at(self._now)[0])

    @extend_schema_field(OpenApiTypes.DATETIME)
    def get_end(self, budget: Budget) -> str:
        """Return when the next period begins."""
        return rfc3339(budget.period_at(self._now)[1])

    @extend_schema_field(OverrideResponse(allow_null=True))
    def get_override(self, budget: Budget) -> dict[str, Any] | None:
        """Return the limit that is in force instead, until when, or null if there is none or it has ended."""
        until = budget.override_at(self._now)
        if until is None:
            return None
        return OverrideResponse({"limitMicrousd": budget.limit_at(self._now), "until": until}).data

    def get_status(self, budget: Budget) -> str:
        """Return `active` or `disabled`."""
        return "active" if budget.disabled_at is None else "disabled"

    @property
    def _now(self) -> datetime:
        return self.context["now"]
