"""`GET /v1/usage`, one of its records, and that call's receipt."""

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.authentication import caller
from accounts.rules.principal import Principal
from billing.models import Call
from billing.queries import seals, usage, usage_calls
from billing.rules.owners import MONEY_ROLES
from billing.serializers.receipts import ReceiptResponse, sign_receipt
from billing.serializers.usage import UsageDetailResponse, UsageListResponse, render_detail, render_usage
from gateway.core.api.access import requires
from gateway.core.api.pagination import LIMIT, limit_of
from gateway.core.api.schema import refuses
from gateway.core.api.viewsets import ApiViewSet
from gateway.core.contract.capabilities import Capability
from gateway.core.contract.errors import NotFound, NotSettled


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

    @extend_schema(
        operation_id="get_usage",
        tags=["Billing"],
        summary="Show a metered call",
        responses=UsageDetailResponse,
    )
    @refuses(NotFound)
    @requires(Capability.USAGE_READ)
    def retrieve(self, request: Request, usage_id: str) -> Response:
        """Return one call with the components of its charge.

        A token sees the calls that it sees in the list.
        """
        call = _visible(caller(request), usage_id)
        return Response(render_detail(call, seals.covering(call)))

    @extend_schema(
        operation_id="get_receipt",
        tags=["Billing"],
        summary="Get the signed receipt of a call",
        responses=ReceiptResponse,
    )
    @refuses(NotFound, NotSettled)
    @requires(Capability.USAGE_READ)
    def receipt(self, request: Request, usage_id: str) -> Response:
        """Return a receipt that anyone can verify with the keys at `/.well-known/receipt-keys.json`.

        It states the call's hold, charge and components, and once the call is sealed, the seal.
        """
        principal = caller(request)
        call = _visible(principal, usage_id)
        return Response({"receipt": sign_receipt(call, principal.owner, now=timezone.now())})


def _visible(principal: Principal, usage_id: str) -> Call:
    found = usage_calls.one(principal.owner, usage_id, member=_only_member(principal))
    if found is None:
        raise NotFound
    return found


def _only_member(principal: Principal) -> str | None:
    """Return the membership to whose calls the token is limited, or None if it may see all calls of the owner."""
    membership = principal.current_membership
    return None if membership is None or membership.role in MONEY_ROLES else membership.membership_id
