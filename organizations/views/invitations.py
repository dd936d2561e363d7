"""Creates, lists, revokes and accepts invitations."""

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.operations import limits
from gateway.core.api.access import requires
from gateway.core.api.drf_internals import django_request
from gateway.core.api.pagination import LIMIT_OF_ALL, limited
from gateway.core.api.schema import refuses
from gateway.core.api.serializers import read
from gateway.core.api.viewsets import ApiViewSet
from gateway.core.contract.capabilities import Capability
from gateway.core.contract.errors import InvitationUnavailable, RateLimited
from gateway.core.contract.route_limits import INVITATIONS
from gateway.core.http.addresses import client_network
from gateway.core.http.rate_limits import note
from organizations.operations import invitation_guesses
from organizations.operations import invitations as operations
from organizations.queries import invitations
from organizations.rules.roles import ANY, PEOPLE_MANAGERS, Role
from organizations.serializers.members import (
    AcceptanceRequest,
    AcceptanceResponse,
    InvitationList,
    InvitationRequest,
    InvitationResponse,
    NewInvitationResponse,
)
from organizations.views.base import OrganizationViewSet, account_of, actor


class InvitationsViewSet(OrganizationViewSet):
    """/v1/organizations/<org_id>/invitations and one of them."""

    @extend_schema(
        operation_id="list_invitations",
        summary="List open invitations",
        parameters=[LIMIT_OF_ALL],
        responses=InvitationList,
    )
    @requires(Capability.MEMBERS_MANAGE, roles=PEOPLE_MANAGERS)
    def list(self, request: Request, org_id: str) -> Response:
        """List the invitations that can still be accepted."""
        found = limited(request, invitations.every_open(org_id, timezone.now()))
        return Response({"data": InvitationResponse(found, many=True).data})

    @extend_schema(
        operation_id="create_invitation",
        summary="Create an invitation",
        request=InvitationRequest,
        responses={201: NewInvitationResponse},
    )
    @requires(Capability.MEMBERS_MANAGE, roles=PEOPLE_MANAGERS)
    def create(self, request: Request, org_id: str) -> Response:
        """Create an invitation. The token is returned once.

        If an email address is given, the link is mailed there as well, where the service sends mail.
        """
        body = read(InvitationRequest, request.data)
        role, email = Role(body["role"]), body.get("email")
        note(django_request(request), limits.take(INVITATIONS, actor(request), now=timezone.now()))
        invitation, token = operations.invite(org_id=org_id, role=role, email=email, actor_did=actor(request))
        return Response(NewInvitationResponse(invitation, context={"token": token}).data, status=201)

    @extend_schema(operation_id="revoke_invitation", summary="Revoke an invitation", responses=InvitationResponse)
    @requires(Capability.MEMBERS_MANAGE, roles=PEOPLE_MANAGERS)
    def destroy(self, request: Request, org_id: str, invitation_id: str) -> Response:
        """Revoke an open invitation."""
        invitation = operations.revoke(org_id=org_id, invitation_id=invitation_id, actor_did=actor(request))
        return Response(InvitationResponse(invitation).data)


class AcceptanceViewSet(ApiViewSet):
    """POST /v1/org-invitations/accept."""

    @refuses(InvitationUnavailable, RateLimited)
    @extend_schema(
        operation_id="accept_invitation",
        summary="Accept an invitation",
        request=AcceptanceRequest,
        responses=AcceptanceResponse,
    )
    @requires(Capability.ORGS_MANAGE, roles=ANY)
    def create(self, request: Request) -> Response:
        """Join an organization as the authenticated account."""
        body = read(AcceptanceRequest, request.data)
        account, network = account_of(request), client_network(django_request(request))
        with invitation_guesses.counted(did=account.did, network=network, now=timezone.now()):
            membership = operations.accept(token=body["token"], account=account)
        return Response(AcceptanceResponse(membership).data)
