"""Wire formats of organizations, their products and the caller's membership."""

from typing import Any

from rest_framework import serializers

from gateway.core.api.serializers import NameField, StrictIntegerField, StrictSerializer, listing
from organizations.models import Organization


class OrganizationRequest(StrictSerializer):
    """The body of POST /v1/organizations."""

    name = NameField(max_length=Organization.NAME_MAX_CHARACTERS)


class MaxSeatsRequest(StrictSerializer):
    """The body of PUT …/max-seats."""

    maxSeats = StrictIntegerField(min_value=0, max_value=1_000_000, allow_null=True)


class ProductResponse(serializers.Serializer[Any]):
    """A product of an organization."""

    product = serializers.CharField(source="product_id")
    enabled = serializers.BooleanField(source="is_enabled")
    maxSeats = serializers.IntegerField(source="max_seats", allow_null=True)
    assignedSeats = serializers.IntegerField(source="assigned_seats", default=0)
    version = serializers.IntegerField()


class OrganizationResponse(serializers.Serializer[Any]):
    """An organization as one of its members sees it. The instance is the caller's membership."""

    orgId = serializers.CharField(source="organization_id")
    name = serializers.CharField(source="organization.name")
    role = serializers.CharField()
    membershipId = serializers.CharField(source="id")
    createdAt = serializers.DateTimeField(source="organization.created_at")
    version = serializers.IntegerField(source="organization.version")
    products = serializers.SerializerMethodField()

    def get_products(self, membership: Any) -> list[dict[str, Any]]:
        """Render the organization's products, which the view has read."""
        products = self.context["products"][membership.organization_id]
        return list(ProductResponse(products, many=True).data)


ProductList = listing(ProductResponse)


OrganizationList = listing(OrganizationResponse)
