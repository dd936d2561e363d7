"""POST /v1/auth/context."""

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.authentication import caller
from gateway.core.api.access import authenticated_only
from gateway.core.api.schema import refuses
from gateway.core.api.serializers import read
from gateway.core.api.viewsets import ApiViewSet
from gateway.core.contract.errors import Forbidden, NoSeat, NotMember, ProductDisabled
from organizations.operations import context
from organizations.serializers.context import ContextRequest, ContextResponse


class ContextViewSet(ApiViewSet):
    """Exchanges a person's token for one that acts for an organization."""

    @refuses(NotMember, NoSeat, ProductDisabled, Forbidden, status=403)
    @extend_schema(
        operation_id="mint_context_token",
        summary="Get a token for an organization",
        request=ContextRequest,
        responses=ContextResponse,
    )
    @authenticated_only
    def create(self, request: Request) -> Response:
        """Return a token for the organization, if the caller currently has access."""
        body = read(ContextRequest, request.data)
        minted = context.mint(
            principal=caller(request),
            org_id=body["orgId"],
            product=body.get("product") or None,
            now=timezone.now(),
        )
        return Response(ContextResponse(minted).data)
