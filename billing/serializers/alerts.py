"""Wire format of the threshold of alerts."""

from typing import Any

from rest_framework import serializers

from gateway.core.api.serializers import StrictIntegerField, StrictSerializer
from gateway.core.contract.limits import LOW_BALANCE_MAX_MICROUSD


class AlertsRequest(StrictSerializer):
    """The body of PUT …/alerts."""

    lowBalanceMicrousd = StrictIntegerField(min_value=0, max_value=LOW_BALANCE_MAX_MICROUSD)


class AlertsResponse(serializers.Serializer[Any]):
    """The worth below which people are told, in micro-USD; 0: never."""

    lowBalanceMicrousd = serializers.IntegerField()
