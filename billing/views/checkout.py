"""`POST /v1/billing/checkout`."""

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.authentication import caller
from billing.models import CheckoutKind
from billing.operations import checkouts
from billing.rules.owners import MONEY_ROLES
from billing.serializers.checkout import AccountCheckoutRequest, CheckoutResponse, render_checkout
from gateway.core.api.access import requires
from gateway.core.api.schema import refuses
from gateway.core.api.serializers import read
from gateway.core.api.viewsets import ApiViewSet
from gateway.core.contract.capabilities import Capability
from gateway.core.contract.errors import IdempotencyKeyReused, IntegrationUnavailable, RateLimited


class CheckoutViewSet(ApiViewSet):
    """Top-ups of the wallet that the token's calls are paid from."""

    @refuses(IdempotencyKeyReused, RateLimited, IntegrationUnavailable)
    @extend_schema(
        operation_id="checkout",
        tags=["Billing"],
        summary="Start a top-up",
        request=AccountCheckoutRequest,
        responses={201: CheckoutResponse},
    )
    @requires(Capability.BILLING_CHECKOUT, roles=MONEY_ROLES)
    def create(self, request: Request) -> Response:
        """Start a top-up and return the page if it is paid. The wallet is credited once the provider confirms that
        exactly this amount was paid. Repeating the request with the same key returns the same transaction, also after a
        lost response or a 503. With an organization's token the money goes to that organization's wallet; the owner and
        billing roles may do this.
        """
        body = read(AccountCheckoutRequest, request.data)
        now = timezone.now()
        checkout = checkouts.begin_and_place(
            caller(request).owner,
            kind=CheckoutKind.TOP_UP,
            amount_microusd=body["amountMicros"],
            product=None,
            idempotency_key=body["idempotencyKey"],
            requested_by=caller(request).did,
            now=now,
        )
        return Response(render_checkout(checkout), status=201)
