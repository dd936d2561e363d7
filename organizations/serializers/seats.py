"""Wire formats of seats and access decisions."""

from typing import Any

from rest_framework import serializers

from gateway.core.api.serializers import listing


class SeatResponse(serializers.Serializer[Any]):
    """A seat, assigned or revoked."""

    product = serializers.CharField(source="entitlement.product_id")
    membershipId = serializers.CharField(source="membership_id")
    assigned = serializers.BooleanField(source="is_assigned")
    assignedAt = serializers.DateTimeField(source="assigned_at", allow_null=True)


SeatList = listing(SeatResponse)


class VersionsResponse(serializers.Serializer[Any]):
    """Versions that increase with every change; null if the caller may not know them."""

    organization = serializers.IntegerField(allow_null=True)
    membership = serializers.IntegerField(allow_null=True)
    entitlement = serializers.IntegerField(allow_null=True)
    seat = serializers.IntegerField(allow_null=True)


class DecisionResponse(serializers.Serializer[Any]):
    """A live access decision."""

    allowed = serializers.BooleanField()
    reason = serializers.CharField()
    versions = VersionsResponse()
