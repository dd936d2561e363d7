"""Seats and the live access decision."""

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.authentication import caller
from gateway.core.api.access import requires
from gateway.core.api.pagination import LIMIT_OF_ALL, limited
from gateway.core.api.schema import refuses
from gateway.core.api.serializers import check_no_members
from gateway.core.api.viewsets import ApiViewSet
from gateway.core.contract.capabilities import Capability
from gateway.core.contract.errors import BillingPastDue, Forbidden, ProductDisabled, SeatCapReached
from organizations.operations import seats as operations
from organizations.queries import access, seats
from organizations.rules.roles import ANY, PEOPLE_MANAGERS
from organizations.serializers.seats import DecisionResponse, SeatList, SeatResponse
from organizations.views.base import OrganizationViewSet, actor, product_of

_PRODUCT = OpenApiParameter("product", OpenApiTypes.STR, description="Only this product.")


class SeatsViewSet(OrganizationViewSet):
    """GET /v1/organizations/<org_id>/seats."""

    @extend_schema(
        operation_id="list_seats",
        summary="List assigned seats",
        parameters=[_PRODUCT, LIMIT_OF_ALL],
        responses=SeatList,
    )
    @requires(Capability.ORGS_READ, roles=ANY)
    def list(self, request: Request, org_id: str) -> Response:
        """List assigned seats: members see their own, the other roles see all."""
        found = limited(request, seats.visible_to(self.membership, product_of(request)))
        return Response({"data": SeatResponse(found, many=True).data})


class SeatAssignmentViewSet(OrganizationViewSet):
    """/v1/organizations/<org_id>/products/<product>/seats/<membership_id>."""

    @refuses(ProductDisabled, SeatCapReached, BillingPastDue)
    @extend_schema(operation_id="assign_seat", summary="Assign a seat", request=None, responses=SeatResponse)
    @requires(Capability.SEATS_MANAGE, roles=PEOPLE_MANAGERS)
    def assign(self, request: Request, org_id: str, product: str, membership_id: str) -> Response:
        """Assign a member to the product; repeating changes nothing."""
        check_no_members(request)
        seat = operations.assign(org_id=org_id, product=product, membership_id=membership_id, actor_did=actor(request))
        return Response(SeatResponse(seat).data)

    @extend_schema(operation_id="revoke_seat", summary="Revoke a seat", responses=SeatResponse)
    @requires(Capability.SEATS_MANAGE, roles=PEOPLE_MANAGERS)
    def revoke(self, request: Request, org_id: str, product: str, membership_id: str) -> Response:
        """Revoke the seat; repeating changes nothing."""
        seat = operations.revoke(org_id=org_id, product=product, membership_id=membership_id, actor_did=actor(request))
        return Response(SeatResponse(seat).data)


class AccessViewSet(ApiViewSet):
    """GET /v1/organizations/<org_id>/access."""

    @extend_schema(
        operation_id="decide_access", summary="Check access", parameters=[_PRODUCT], responses=DecisionResponse
    )
    @requires(Capability.ORGS_READ, roles=ANY)
    def retrieve(self, request: Request, org_id: str) -> Response:
        """Return whether the caller may use the organization (and product) now. A denial also has status 200."""
        if caller(request).org_id not in (None, org_id):
            raise Forbidden("A token for one organization cannot ask about another.")
        return Response(DecisionResponse(access.decide(org_id, actor(request), product_of(request))).data)
