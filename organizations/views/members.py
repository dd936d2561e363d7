"""Lists, changes and removes members."""

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from gateway.core.api.access import requires
from gateway.core.api.pagination import LIMIT_OF_ALL, limited
from gateway.core.api.schema import refuses
from gateway.core.api.serializers import read
from gateway.core.contract.capabilities import Capability
from gateway.core.contract.errors import LastOwner
from organizations.operations import members
from organizations.queries import memberships
from organizations.queries.memberships import ListedMember
from organizations.rules.roles import PEOPLE_MANAGERS, Role
from organizations.serializers.members import MemberList, MemberResponse, RoleRequest, render_member, render_members
from organizations.views.base import OrganizationViewSet, actor


class MembersViewSet(OrganizationViewSet):
    """/v1/organizations/<org_id>/members and one of them."""

    @extend_schema(operation_id="list_members", summary="List members", parameters=[LIMIT_OF_ALL], responses=MemberList)
    @requires(Capability.ORGS_READ, roles=PEOPLE_MANAGERS)
    def list(self, request: Request, org_id: str) -> Response:
        """List all memberships, including removed ones, newest first."""
        return Response(render_members(limited(request, memberships.listed(org_id))))

    @refuses(LastOwner)
    @extend_schema(
        operation_id="change_member_role",
        summary="Change a member's role",
        request=RoleRequest,
        responses=MemberResponse,
    )
    @requires(Capability.MEMBERS_MANAGE, roles=PEOPLE_MANAGERS)
    def update(self, request: Request, org_id: str, membership_id: str) -> Response:
        """Change a member's role. An organization must have at least one owner."""
        body = read(RoleRequest, request.data)
        role = Role(body["role"])
        membership = members.change_role(
            org_id=org_id, membership_id=membership_id, role=role, actor_did=actor(request)
        )
        return Response(render_member(ListedMember.of(membership)))

    @refuses(LastOwner)
    @extend_schema(operation_id="remove_member", summary="Remove a member", responses=MemberResponse)
    @requires(Capability.MEMBERS_MANAGE, roles=PEOPLE_MANAGERS)
    def destroy(self, request: Request, org_id: str, membership_id: str) -> Response:
        """Remove a member and revoke the membership's seats."""
        membership = members.remove(org_id=org_id, membership_id=membership_id, actor_did=actor(request))
        return Response(render_member(ListedMember.of(membership)))
