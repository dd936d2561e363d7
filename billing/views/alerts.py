"""`GET` and `PUT /api/account/alerts`."""

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.authentication import caller
from billing.operations import alerts
from billing.queries import alerts as queries
from billing.rules.owners import MONEY_ROLES
from billing.serializers.alerts import AlertsRequest, AlertsResponse
from gateway.core.api.access import requires
from gateway.core.api.serializers import read
from gateway.core.api.viewsets import ApiViewSet
from gateway.core.contract.capabilities import Capability


class AlertsViewSet(ApiViewSet):
    """The threshold of the signed-in person's own wallet, for the portal."""

    @extend_schema(operation_id="get_account_alerts", tags=["Billing"], responses=AlertsResponse)
    @requires(Capability.WALLET_READ, roles=MONEY_ROLES)
    def retrieve(self, request: Request) -> Response:
        """Return the worth of the wallet below which its person is told; 0: never."""
        return _answer(queries.threshold_microusd(caller(request).owner))

    @extend_schema(operation_id="set_account_alerts", tags=["Billing"], request=AlertsRequest, responses=AlertsResponse)
    @requires(Capability.BUDGETS_MANAGE, roles=MONEY_ROLES)
    def update(self, request: Request) -> Response:
        """Set it. Nothing is sent for a wallet that is below it already."""
        body = read(AlertsRequest, request.data)
        alerts.set_threshold(caller(request).owner, amount_microusd=body["lowBalanceMicrousd"])
        return _answer(body["lowBalanceMicrousd"])


def _answer(amount_microusd: int) -> Response:
    return Response({"lowBalanceMicrousd": amount_microusd})
