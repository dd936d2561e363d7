"""Wire formats of the token routes. SPEC: Token exchange request; RFC 6749 section 5."""

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from accounts.operations.tokens import MintedToken
from accounts.rules import jwk
from accounts.rules.assertion import ASSERTION_MAX_BYTES, JWT_BEARER
from accounts.rules.scopes import SCOPE_MAX_CHARACTERS
from gateway.core.api.serializers import StrictStringField


@extend_schema_field(
    {
        "type": "object",
        "description": "The public proof key: EC on P-256 or OKP on Ed25519, without private members.",
        "properties": {
            "kty": {"type": "string", "enum": ["EC", "OKP"]},
            "crv": {"type": "string", "enum": ["P-256", "Ed25519"]},
            "x": {"type": "string"},
            "y": {"type": "string"},
        },
        "required": ["kty", "crv", "x"],
    }
)
class PublicJwkField(serializers.Field[jwk.PublicKey, Any, Any, Any]):
    """Parses a public JWK."""

    def to_internal_value(self, data: Any) -> jwk.PublicKey:
        try:
            return jwk.parse(data)
        except jwk.JwkError as error:
            raise serializers.ValidationError(f"The key was refused: {error}.") from None


class ExchangeRequest(serializers.Serializer[Any]):
    """A trusted server's exchange request."""

    assertion = StrictStringField(max_length=ASSERTION_MAX_BYTES, trim_whitespace=False)
    dpop_jwk = PublicJwkField()
    scope = StrictStringField(max_length=SCOPE_MAX_CHARACTERS, required=False, trim_whitespace=False)


class OAuthTokenRequest(serializers.Serializer[Any]):
    """A standard OAuth client's form."""

    grant_type = serializers.ChoiceField([JWT_BEARER])
    assertion = StrictStringField(max_length=ASSERTION_MAX_BYTES, trim_whitespace=False)
    scope = StrictStringField(max_length=SCOPE_MAX_CHARACTERS, required=False, trim_whitespace=False)


class TokenResponse(serializers.Serializer[Any]):
    """A token response."""

    access_token = serializers.CharField()
    token_type = serializers.ChoiceField(["DPoP"])
    expires_in = serializers.IntegerField(help_text="Seconds.")
    scope = serializers.CharField(allow_blank=True)


def render_token(token: MintedToken) -> dict[str, Any]:
    """Render a token."""
    return {
        "access_token": token.access_token,
        "token_type": "DPoP",
        "expires_in": token.expires_in,
        "scope": token.scope,
    }
