"""`GET /v1/usage`."""

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.authentication import caller
from accounts.rules.principal import Principal
from billing.queries import usage
from billing.rules.owners import MONEY_ROLES
from billing.serializers.usage import UsageListResponse, render_usage
from gateway.core.api.access import requires
from gateway.core.api.pagination import LIMIT, limit_of
from gateway.core.api.viewsets import ApiViewSet
from gateway.core.contract.capabilities import Capability


class UsageViewSet(ApiViewSet):
    """The metered calls of the token's owner."""

    @extend_schema(
        operation_id="list_usage",
        tags=["Billing"],
        summary="List metered calls, newest first",
        parameters=[LIMIT],
        responses=UsageListResponse,
    )
    @requires(Capability.USAGE_READ)
    def list(self, request: Request) -> Response:
        """Return the newest calls with what they used, hold and cost.

        With an organization's token, the owner and billing roles see all of that organization's calls, and others only
        their own.
        """
        principal, limit = caller(request), limit_of(request)
        return Response(render_usage(usage.newest(principal.owner, limit, member=_only_member(principal))))


def _only_member(principal: Principal) -> str | None:
    """Return the membership to whose calls the token is limited, or None if it may see all calls of the owner."""
    membership = principal.current_membership
    return None if membership is None or membership.role in MONEY_ROLES else membership.membership_id
