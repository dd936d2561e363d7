"""Members and invitations on the wire."""

from typing import Any

from django.conf import settings
from rest_framework import serializers

from gateway.core.api.names import validate_name
from gateway.core.api.serializers import StrictSerializer, StrictStringField, listing
from organizations.rules.roles import Role

ROLES = [role.value for role in Role]
TOKEN_MAX_CHARACTERS = 128


class RoleRequest(StrictSerializer):
    """The body of PUT …/members/<membership_id>."""

    role = serializers.ChoiceField(ROLES)


class InvitationRequest(StrictSerializer):
    """The body of POST …/invitations."""

    role = serializers.ChoiceField(ROLES)
    email = serializers.EmailField(required=False, allow_null=True, max_length=254, validators=[validate_name])


class AcceptanceRequest(StrictSerializer):
    """The body of POST /v1/org-invitations/accept."""

    token = StrictStringField(max_length=TOKEN_MAX_CHARACTERS, trim_whitespace=False)


class MemberResponse(serializers.Serializer[Any]):
    """A membership, live or removed."""

    membershipId = serializers.CharField(source="id")
    did = serializers.CharField(source="account.did")
    displayName = serializers.CharField(source="account.display_name")
    role = serializers.CharField()
    status = serializers.SerializerMethodField()
    createdAt = serializers.DateTimeField(source="created_at")
    removedAt = serializers.DateTimeField(source="removed_at", allow_null=True)

    def get_status(self, membership: Any) -> str:
        """Return `active` or `removed`."""
        return "active" if membership.is_active else "removed"


MemberList = listing(MemberResponse)


class InvitationResponse(serializers.Serializer[Any]):
    """An invitation; its token is shown by the answer that creates it alone."""

    invitationId = serializers.CharField(source="id")
    role = serializers.CharField()
    email = serializers.CharField(allow_null=True)
    createdAt = serializers.DateTimeField(source="created_at")
    expiresAt = serializers.DateTimeField(source="expires_at")


InvitationList = listing(InvitationResponse)


class NewInvitationResponse(InvitationResponse):
    """The one answer that carries the token, and the portal's link with it in the fragment."""

    token = serializers.SerializerMethodField()
    url = serializers.SerializerMethodField()

    def get_token(self, invitation: Any) -> str:
        """Show the token, once."""
        return str(self.context["token"])

    def get_url(self, invitation: Any) -> str:
        """Make the link that a person can open; a fragment never reaches a server's log."""
        return f"{settings.PORTAL_URL}/organizations/invitation#token={self.context['token']}"


class AcceptanceResponse(serializers.Serializer[Any]):
    """The answer of an accepted invitation; the instance is the new membership."""

    orgId = serializers.CharField(source="organization_id")
    membershipId = serializers.CharField(source="id")
    role = serializers.CharField()
