"""Wire format of context tokens."""

from typing import Any

from rest_framework import serializers

from gateway.core.api.serializers import StrictSerializer, StrictStringField


class ContextRequest(StrictSerializer):
    """The body of POST /v1/auth/context."""

    orgId = StrictStringField(max_length=40)
    product = StrictStringField(max_length=64, required=False, allow_null=True)


class ContextResponse(serializers.Serializer[Any]):
    """A token that acts for an organization. `expires_in` is the remaining lifetime of the source token."""

    access_token = serializers.CharField()
    token_type = serializers.CharField(default="DPoP")
    expires_in = serializers.IntegerField()
    scope = serializers.CharField()
    orgId = serializers.CharField(source="principal.org_id")
    product = serializers.CharField(source="principal.product", allow_null=True)
