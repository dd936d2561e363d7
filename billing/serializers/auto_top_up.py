"""Wire formats of automatic top-up."""

from typing import Any

from rest_framework import serializers

from billing.queries.auto_top_ups import AutoTopUpView, Terms
from billing.rules.auto_top_ups import AutoTopUpState
from gateway.core.api.serializers import StrictBooleanField, StrictIntegerField, StrictSerializer, WholeCentsField
from gateway.core.contract.limits import (
    AUTO_TOP_UP_MONTH_MAX_MICROUSD,
    CHECKOUT_MAX_MICROUSD,
    CHECKOUT_MIN_MICROUSD,
)


class AutoTopUpRequest(StrictSerializer):
    """The terms of automatic top-up, all of them."""

    enabled = StrictBooleanField()
    thresholdMicrousd = StrictIntegerField(min_value=1, max_value=CHECKOUT_MAX_MICROUSD)
    amountMicrousd = WholeCentsField(help_text="What is charged at a time, in micro-USD: a whole number of cents.")
    monthlyLimitMicrousd = StrictIntegerField(
        min_value=CHECKOUT_MIN_MICROUSD,
        max_value=AUTO_TOP_UP_MONTH_MAX_MICROUSD,
        help_text="The most that is charged in a UTC month; at least the amount.",
    )

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Check that a month has room for one charge."""
        if attrs["monthlyLimitMicrousd"] < attrs["amountMicrousd"]:
            raise serializers.ValidationError({"monthlyLimitMicrousd": ["The monthly limit is less than the amount."]})
        return attrs


class AutoTopUpResponse(serializers.Serializer[Any]):
    """The terms of automatic top-up, and what it is doing."""

    enabled = serializers.BooleanField()
    thresholdMicrousd = serializers.IntegerField()
    amountMicrousd = serializers.IntegerField()
    monthlyLimitMicrousd = serializers.IntegerField()
    status = serializers.ChoiceField([state.value for state in AutoTopUpState])


def terms_of(body: dict[str, Any]) -> Terms:
    """Return the terms of a request."""
    return Terms(
        is_enabled=body["enabled"],
        threshold_microusd=body["thresholdMicrousd"],
        amount_microusd=body["amountMicrousd"],
        monthly_limit_microusd=body["monthlyLimitMicrousd"],
    )


def render_auto_top_up(found: AutoTopUpView) -> dict[str, Any]:
    """Render automatic top-up."""
    return {
        "enabled": found.terms.is_enabled,
        "thresholdMicrousd": found.terms.threshold_microusd,
        "amountMicrousd": found.terms.amount_microusd,
        "monthlyLimitMicrousd": found.terms.monthly_limit_microusd,
        "status": found.state.value,
    }
