"""Products of an organization and their caps."""

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from gateway.core.api.access import requires
from gateway.core.api.pagination import LIMIT_OF_ALL, limited
from gateway.core.api.serializers import check_no_members, read
from gateway.core.contract.capabilities import Capability
from organizations.models import Entitlement
from organizations.operations import products
from organizations.queries import entitlements
from organizations.rules.roles import ANY, MONEY_MANAGERS
from organizations.serializers.organizations import MaxSeatsRequest, ProductList, ProductResponse
from organizations.views.base import OrganizationViewSet, actor


class ProductsViewSet(OrganizationViewSet):
    """/v1/organizations/<org_id>/products and one of them."""

    @extend_schema(
        operation_id="list_products",
        summary="List products and seat counts",
        parameters=[LIMIT_OF_ALL],
        responses=ProductList,
    )
    @requires(Capability.ORGS_READ, roles=ANY)
    def list(self, request: Request, org_id: str) -> Response:
        """List products with their live seat counts."""
        found = limited(request, entitlements.with_counts().filter(organization_id=org_id))
        return Response({"data": ProductResponse(found, many=True).data})

    @extend_schema(operation_id="enable_product", summary="Enable a product", request=None, responses=ProductResponse)
    @requires(Capability.PRODUCTS_MANAGE, roles=MONEY_MANAGERS)
    def update(self, request: Request, org_id: str, product: str) -> Response:
        """Enable a product of the catalogue."""
        check_no_members(request)
        return _answer(products.enable(org_id=org_id, product=product, actor_did=actor(request)))

    @extend_schema(operation_id="disable_product", summary="Disable a product", responses=ProductResponse)
    @requires(Capability.PRODUCTS_MANAGE, roles=MONEY_MANAGERS)
    def destroy(self, request: Request, org_id: str, product: str) -> Response:
        """Disable a product and revoke its seats."""
        return _answer(products.disable(org_id=org_id, product=product, actor_did=actor(request)))


class MaxSeatsViewSet(OrganizationViewSet):
    """/v1/organizations/<org_id>/products/<product>/max-seats."""

    @extend_schema(
        operation_id="set_max_seats",
        summary="Set a product's seat cap",
        request=MaxSeatsRequest,
        responses=ProductResponse,
    )
    @requires(Capability.PRODUCTS_MANAGE, roles=MONEY_MANAGERS)
    def update(self, request: Request, org_id: str, product: str) -> Response:
        """Set the cap. Lowering it removes no assigned seats."""
        body = read(MaxSeatsRequest, request.data)
        cap = body["maxSeats"]
        return _answer(products.set_cap(org_id=org_id, product=product, max_seats=cap, actor_did=actor(request)))

    @extend_schema(operation_id="clear_max_seats", summary="Clear a product's seat cap", responses=ProductResponse)
    @requires(Capability.PRODUCTS_MANAGE, roles=MONEY_MANAGERS)
    def destroy(self, request: Request, org_id: str, product: str) -> Response:
        """Clear the cap."""
        return _answer(products.set_cap(org_id=org_id, product=product, max_seats=None, actor_did=actor(request)))


def _answer(entitlement: Entitlement) -> Response:
    return Response(ProductResponse(entitlement).data)
