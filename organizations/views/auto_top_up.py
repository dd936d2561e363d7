"""`GET` and `PUT /api/organizations/<org_id>/billing/auto-top-up`."""

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from billing.queries import auto_top_ups as queries
from billing.serializers.auto_top_up import AutoTopUpRequest, AutoTopUpResponse, render_auto_top_up, terms_of
from gateway.core.api.access import requires
from gateway.core.api.schema import refuses
from gateway.core.api.serializers import read
from gateway.core.contract.capabilities import Capability
from gateway.core.contract.errors import RateLimited
from organizations.operations import auto_top_ups
from organizations.rules.roles import MONEY_MANAGERS
from organizations.views.base import OrganizationViewSet, actor


class OrganizationAutoTopUpViewSet(OrganizationViewSet):
    """Automatic top-up of an organization's wallet."""

    @extend_schema(
        operation_id="get_organization_auto_top_up",
        summary="Show an organization's automatic top-up",
        responses=AutoTopUpResponse,
    )
    @requires(Capability.WALLET_READ, roles=MONEY_MANAGERS)
    def retrieve(self, request: Request, org_id: str) -> Response:
        """Return the terms and the status; what would be proposed if none were ever set."""
        return _answer(org_id)

    @refuses(RateLimited)
    @extend_schema(
        operation_id="set_organization_auto_top_up",
        summary="Set an organization's automatic top-up",
        request=AutoTopUpRequest,
        responses=AutoTopUpResponse,
    )
    @requires(Capability.BILLING_CHECKOUT, roles=MONEY_MANAGERS)
    def update(self, request: Request, org_id: str) -> Response:
        """Set the terms. Enabling it ends a pause, and charges soon if the wallet is below the threshold."""
        body = read(AutoTopUpRequest, request.data)
        auto_top_ups.put(org_id=org_id, terms=terms_of(body), actor_did=actor(request))
        return _answer(org_id)


def _answer(org_id: str) -> Response:
    return Response(render_auto_top_up(queries.view(("organization", org_id), timezone.now())))
