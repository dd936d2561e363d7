"""Wire formats of members and invitations."""

from collections.abc import Iterable
from typing import Any

from django.conf import settings
from django.core.validators import ProhibitNullCharactersValidator
from rest_framework import serializers

from gateway.core.api.names import validate_name
from gateway.core.api.serializers import StrictSerializer, StrictStringField, listing
from gateway.core.api.times import rfc3339, rfc3339_or_none
from organizations.queries.memberships import ListedMember
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


class InvitationTokenField(StrictStringField):
    """An invitation's token, of which only the hash is looked up: one with NUL is unknown like any other."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.validators = [one for one in self.validators if not isinstance(one, ProhibitNullCharactersValidator)]


class AcceptanceRequest(StrictSerializer):
    """The body of POST /v1/org-invitations/accept."""

    token = InvitationTokenField(max_length=TOKEN_MAX_CHARACTERS, trim_whitespace=False)


class MemberResponse(serializers.Serializer[Any]):
    """A membership, live or removed."""

    membershipId = serializers.CharField()
    did = serializers.CharField()
    displayName = serializers.CharField()
    role = serializers.CharField()
    status = serializers.CharField(read_only=True, help_text="`active` or `removed`.")
    createdAt = serializers.DateTimeField()
    removedAt = serializers.DateTimeField(allow_null=True)


MemberList = listing(MemberResponse)


def render_member(member: ListedMember) -> dict[str, Any]:
    """Render a membership, without a serializer: there may be a thousand, and a serializer takes 10 times as long."""
    return {
        "membershipId": member.membership_id,
        "did": member.did,
        "displayName": member.display_name,
        "role": member.role,
        "status": "active" if member.removed_at is None else "removed",
        "createdAt": rfc3339(member.created_at),
        "removedAt": rfc3339_or_none(member.removed_at),
    }


def render_members(members: Iterable[ListedMember]) -> dict[str, Any]:
    """Render a list of memberships."""
    return {"data": [render_member(member) for member in members]}


class InvitationResponse(serializers.Serializer[Any]):
    """An invitation. Only the response that creates it contains the token."""

    invitationId = serializers.CharField(source="id")
    role = serializers.CharField()
    email = serializers.CharField(allow_null=True)
    createdAt = serializers.DateTimeField(source="created_at")
    expiresAt = serializers.DateTimeField(source="expires_at")


InvitationList = listing(InvitationResponse)


class NewInvitationResponse(InvitationResponse):
    """The only response with the token, and with the portal's link, which has the token in its fragment."""

    token = serializers.SerializerMethodField()
    url = serializers.SerializerMethodField()

    def get_token(self, invitation: Any) -> str:
        """Return the token."""
        return str(self.context["token"])

    def get_url(self, invitation: Any) -> str:
        """Return the link for the invited person. The token is in the fragment, which never reaches a server's log."""
        return f"{settings.PORTAL_URL}/organizations/invitation#token={self.context['token']}"


class AcceptanceResponse(serializers.Serializer[Any]):
    """The response to an accepted invitation. The instance is the new membership."""

    orgId = serializers.CharField(source="organization_id")
    membershipId = serializers.CharField(source="id")
    role = serializers.CharField()
