"""`GET` and `PUT /api/organizations/<org_id>/alerts`."""

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from billing.queries import alerts as queries
from gateway.core.api.access import requires
from gateway.core.api.serializers import read
from gateway.core.contract.capabilities import Capability
from organizations.operations import alerts
from organizations.rules.roles import MONEY_MANAGERS
from organizations.serializers.alerts import AlertsRequest, AlertsResponse
from organizations.views.base import OrganizationViewSet, actor


class OrganizationAlertsViewSet(OrganizationViewSet):
    """The threshold of an organization's wallet, for the portal."""

    @extend_schema(operation_id="get_organization_alerts", responses=AlertsResponse)
    @requires(Capability.WALLET_READ, roles=MONEY_MANAGERS)
    def retrieve(self, request: Request, org_id: str) -> Response:
        """Return the worth of the wallet below which its owners and billing members are told; 0: never."""
        return _answer(queries.threshold_microusd(("organization", org_id)))

    @extend_schema(operation_id="set_organization_alerts", request=AlertsRequest, responses=AlertsResponse)
    @requires(Capability.BUDGETS_MANAGE, roles=MONEY_MANAGERS)
    def update(self, request: Request, org_id: str) -> Response:
        """Set it. Nothing is sent for a wallet that is below it already."""
        body = read(AlertsRequest, request.data)
        amount = body["lowBalanceMicrousd"]
        alerts.set_threshold(org_id=org_id, amount_microusd=amount, actor_did=actor(request))
        return _answer(amount)


def _answer(amount_microusd: int) -> Response:
    return Response({"lowBalanceMicrousd": amount_microusd})
