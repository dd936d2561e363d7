"""Lists, creates, shows and renames organizations."""

from typing import Any

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.authentication import caller
from accounts.operations import limits
from gateway.core.api.access import requires
from gateway.core.api.drf_internals import django_request
from gateway.core.api.pagination import LIMIT_OF_ALL, limited
from gateway.core.api.schema import refuses
from gateway.core.api.serializers import read
from gateway.core.api.viewsets import ApiViewSet
from gateway.core.contract.capabilities import Capability
from gateway.core.contract.errors import Forbidden
from gateway.core.contract.route_limits import ORGANIZATIONS
from gateway.core.http.rate_limits import note
from organizations.models import Membership
from organizations.operations import organizations
from organizations.queries import entitlements, memberships
from organizations.rules.roles import ANY, OWNERS
from organizations.serializers.organizations import OrganizationList, OrganizationRequest, OrganizationResponse
from organizations.views.base import OrganizationViewSet, account_of, actor


class OrganizationsViewSet(ApiViewSet):
    """GET and POST /v1/organizations."""

    @extend_schema(
        operation_id="list_organizations",
        summary="List my organizations",
        parameters=[LIMIT_OF_ALL],
        responses=OrganizationList,
    )
    @requires(Capability.ORGS_READ, roles=ANY)
    def list(self, request: Request) -> Response:
        """List the organizations that the caller is a member of, with products and live seat counts."""
        found = memberships.of_person(actor(request))
        if org_id := caller(request).org_id:
            found = found.filter(organization_id=org_id)
        return Response({"data": _render(list(limited(request, found)))})

    @refuses(Forbidden)
    @extend_schema(
        operation_id="create_organization",
        summary="Create an organization",
        request=OrganizationRequest,
        responses={201: OrganizationResponse},
    )
    @requires(Capability.ORGS_MANAGE, roles=ANY)
    def create(self, request: Request) -> Response:
        """Create an organization, with the caller as its owner, a billing account and a wallet."""
        if caller(request).org_id:
            raise Forbidden("An organization's token cannot create another organization.")
        body = read(OrganizationRequest, request.data)
        account, now = account_of(request), timezone.now()
        note(django_request(request), limits.take(ORGANIZATIONS, account.did, now=now))
        membership = organizations.create(name=body["name"], account=account, now=now)
        return Response(_render([membership])[0], status=201)


class OrganizationDetailViewSet(OrganizationViewSet):
    """GET /v1/organizations/<org_id> and, only in the portal, PUT /api/organizations/<org_id>."""

    @extend_schema(operation_id="get_organization", summary="Show an organization", responses=OrganizationResponse)
    @requires(Capability.ORGS_READ, roles=ANY)
    def retrieve(self, request: Request, org_id: str) -> Response:
        """Show an organization and its products."""
        return Response(_render([self.membership])[0])

    @extend_schema(exclude=True)
    @requires(Capability.ORGS_MANAGE, roles=OWNERS)
    def rename(self, request: Request, org_id: str) -> Response:
        """Rename an organization, for the portal's scripts. Setting the same name again changes nothing."""
        body = read(OrganizationRequest, request.data)
        organizations.rename(org_id=org_id, name=body["name"], actor_did=actor(request))
        return Response(_render([memberships.live(org_id, actor(request))])[0])


def _render(found: list[Membership]) -> list[dict[str, Any]]:
    products = entitlements.of_organizations([membership.organization_id for membership in found])
    return list(OrganizationResponse(found, many=True, context={"products": products}).data)
