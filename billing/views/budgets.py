"""`GET /v1/account/budgets`."""

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.authentication import caller
from billing.queries import budgets
from billing.serializers.budgets import OwnBudgetListResponse, render_budgets
from gateway.core.api.access import requires
from gateway.core.api.pagination import LIMIT_OF_ALL, limited
from gateway.core.api.viewsets import ApiViewSet
from gateway.core.contract.capabilities import Capability


class BudgetViewSet(ApiViewSet):
    """The budgets that limit the token's calls."""

    @extend_schema(
        operation_id="list_account_budgets",
        tags=["Billing"],
        summary="List the budgets that limit the token's calls",
        parameters=[LIMIT_OF_ALL],
        responses=OwnBudgetListResponse,
    )
    @requires(Capability.USAGE_READ)
    def list(self, request: Request) -> Response:
        """Return the enabled budgets that a call with this token is held against, newest first: the person's own, in total and
        for the token's app, or with an organization's token those of the organization for its member and product.

        People change their budgets in the portal, and organizations theirs under their own route.
        """
        principal = caller(request)
        membership = principal.current_membership
        found = budgets.binding(
            principal.owner,
            product=principal.product,
            membership_id=membership.membership_id if membership else None,
            client_id=principal.client_id,
        )
        return Response(render_budgets(limited(request, found), timezone.now()))
