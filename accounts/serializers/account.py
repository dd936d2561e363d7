"""Wire format of an account."""

from typing import Any

from rest_framework import serializers

from accounts.models import Account
from accounts.rules.principal import Principal
from gateway.core.api.times import rfc3339


class AccountOrganizationResponse(serializers.Serializer[Any]):
    """The organization that a context token speaks for."""

    orgId = serializers.CharField()
    membershipId = serializers.CharField()
    role = serializers.CharField(help_text="The current role: owner, admin, billing or member.")


class AccountResponse(serializers.Serializer[Any]):
    """The account of the token's holder, and the token's claims."""

    did = serializers.CharField()
    displayName = serializers.CharField(allow_null=True)
    createdAt = serializers.DateTimeField()
    clientId = serializers.CharField()
    product = serializers.CharField(allow_null=True)
    scopes = serializers.ListField(child=serializers.CharField())
    organization = AccountOrganizationResponse(allow_null=True)
    tokenExpiresAt = serializers.DateTimeField()


def render_account(account: Account, principal: Principal) -> dict[str, Any]:
    """Render the principal's account, with its current role in the token's organization."""
    return {
        "did": account.did,
        "displayName": account.display_name or None,
        "createdAt": rfc3339(account.created_at),
        "clientId": principal.client_id,
        "product": principal.product,
        "scopes": sorted(principal.scopes),
        "organization": _organization(principal),
        "tokenExpiresAt": rfc3339(principal.expires_at),
    }


def _organization(principal: Principal) -> dict[str, Any] | None:
    if principal.org_id is None:
        return None
    role = principal.current_membership.role if principal.current_membership else None
    return {"orgId": principal.org_id, "membershipId": principal.membership_id, "role": role}
