"""Wire formats of the public documents. RFC 7517 section 5, RFC 8414 section 2, RFC 9728 section 2."""

from typing import Any

from rest_framework import serializers


class PublishedKeyResponse(serializers.Serializer[Any]):
    """A public key that verifies access tokens, or receipts."""

    kty = serializers.CharField()
    crv = serializers.CharField()
    x = serializers.CharField()
    y = serializers.CharField(required=False, help_text="Only for EC keys.")
    kid = serializers.CharField()
    alg = serializers.CharField()
    use = serializers.CharField()


class KeySetResponse(serializers.Serializer[Any]):
    """The published keys."""

    keys = PublishedKeyResponse(many=True)


class AuthorizationServerResponse(serializers.Serializer[Any]):
    """The authorization server's metadata."""

    issuer = serializers.CharField()
    authorization_endpoint = serializers.CharField()
    token_endpoint = serializers.CharField()
    jwks_uri = serializers.CharField()
    scopes_supported = serializers.ListField(child=serializers.CharField())
    response_types_supported = serializers.ListField(child=serializers.CharField())
    response_modes_supported = serializers.ListField(child=serializers.CharField())
    grant_types_supported = serializers.ListField(child=serializers.CharField())
    code_challenge_methods_supported = serializers.ListField(child=serializers.CharField())
    token_endpoint_auth_methods_supported = serializers.ListField(child=serializers.CharField())
    dpop_signing_alg_values_supported = serializers.ListField(child=serializers.CharField())
    authorization_response_iss_parameter_supported = serializers.BooleanField()
    protected_resources = serializers.ListField(child=serializers.CharField())


class ProtectedResourceResponse(serializers.Serializer[Any]):
    """The protected resource's metadata."""

    resource = serializers.CharField()
    authorization_servers = serializers.ListField(child=serializers.CharField())
    jwks_uri = serializers.CharField()
    receipt_keys_uri = serializers.CharField(help_text="The keys that verify receipts of paid calls.")
    scopes_supported = serializers.ListField(child=serializers.CharField())
    bearer_methods_supported = serializers.ListField(child=serializers.CharField())
    dpop_signing_alg_values_supported = serializers.ListField(child=serializers.CharField())
    dpop_bound_access_tokens_required = serializers.BooleanField()
