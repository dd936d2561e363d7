"""The account of the token's holder."""

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.authentication import caller
from accounts.queries import accounts
from accounts.serializers.account import AccountResponse, render_account
from gateway.core.api.access import authenticated_only
from gateway.core.api.viewsets import ApiViewSet


class AccountViewSet(ApiViewSet):
    """The caller's own account. No parameter can select another."""

    @extend_schema(
        operation_id="get_account", tags=["Account"], summary="Show the token's account", responses=AccountResponse
    )
    @authenticated_only
    def retrieve(self, request: Request) -> Response:
        """Return the account and the token's claims."""
        principal = caller(request)
        return Response(render_account(accounts.of_principal(principal), principal))
