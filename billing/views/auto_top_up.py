"""`GET` and `PUT /api/account/auto-top-up`."""

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.authentication import caller
from billing.operations import auto_top_ups
from billing.queries import auto_top_ups as queries
from billing.rules.owners import MONEY_ROLES, Owner
from billing.serializers.auto_top_up import AutoTopUpRequest, AutoTopUpResponse, render_auto_top_up, terms_of
from gateway.core.api.access import requires
from gateway.core.api.schema import refuses
from gateway.core.api.serializers import read
from gateway.core.api.viewsets import ApiViewSet
from gateway.core.contract.capabilities import Capability
from gateway.core.contract.errors import RateLimited


class AutoTopUpViewSet(ApiViewSet):
    """Automatic top-up of a person's wallet."""

    @extend_schema(
        operation_id="get_auto_top_up", tags=["Billing"], summary="Show automatic top-up", responses=AutoTopUpResponse
    )
    @requires(Capability.WALLET_READ, roles=MONEY_ROLES)
    def retrieve(self, request: Request) -> Response:
        """Return the terms and the status; what would be proposed if none were ever set."""
        return _answer(caller(request).owner)

    @refuses(RateLimited)
    @extend_schema(
        operation_id="set_auto_top_up",
        tags=["Billing"],
        summary="Set automatic top-up",
        request=AutoTopUpRequest,
        responses=AutoTopUpResponse,
    )
    @requires(Capability.BILLING_CHECKOUT, roles=MONEY_ROLES)
    def update(self, request: Request) -> Response:
        """Set the terms. Enabling it ends a pause, and charges soon if the wallet is below the threshold."""
        body = read(AutoTopUpRequest, request.data)
        principal = caller(request)
        auto_top_ups.put(principal.owner, terms_of(body), requested_by=principal.did, now=timezone.now())
        return _answer(principal.owner)


def _answer(owner: Owner) -> Response:
    return Response(render_auto_top_up(queries.view(owner, timezone.now())))
