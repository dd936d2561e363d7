"""`GET /v1/wallet`."""

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.authentication import caller
from billing.queries import wallets
from billing.rules.owners import MONEY_ROLES
from billing.serializers.wallet import WalletResponse, render_wallet
from gateway.core.api.access import requires
from gateway.core.api.viewsets import ApiViewSet
from gateway.core.contract.capabilities import Capability


class WalletViewSet(ApiViewSet):
    """The wallet that the token's calls are paid from."""

    @extend_schema(operation_id="get_wallet", tags=["Billing"], summary="Show the wallet", responses=WalletResponse)
    @requires(Capability.WALLET_READ, roles=MONEY_ROLES)
    def retrieve(self, request: Request) -> Response:
        """Return balance, credits, holds and debt, and the amount that can be spent. With an organization's token this
        is that organization's wallet, for its owner and billing roles.
        """
        return Response(render_wallet(wallets.view(caller(request).owner, timezone.now())))
