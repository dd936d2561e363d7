"""Wire format of account keys."""

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from accounts.rules.jwk import JwkError
from gateway.core.api.serializers import StrictSerializer
from integrations.operations.account_keys import ALGORITHM, ENCRYPTION
from integrations.rules import recipients


@extend_schema_field(
    {
        "type": "object",
        "description": "The public key to encrypt to: EC on P-256 or OKP on X25519, without private members.",
        "properties": {
            "kty": {"type": "string", "enum": ["EC", "OKP"]},
            "crv": {"type": "string", "enum": ["P-256", "X25519"]},
            "x": {"type": "string"},
            "y": {"type": "string"},
        },
        "required": ["kty", "crv", "x"],
    }
)
class RecipientField(serializers.Field[recipients.Recipient, Any, Any, Any]):
    """Parses a recipient's public JWK."""

    def to_internal_value(self, data: Any) -> recipients.Recipient:
        try:
            return recipients.parse(data)
        except JwkError as error:
            raise serializers.ValidationError(f"The key was refused: {error}.") from None


class AccountKeyRequest(StrictSerializer):
    """The body of POST /v1/sync/account-key, which is optional."""

    may_be_left_out = True

    public_jwk = RecipientField(required=False, help_text="The recipient's key; by default, the DPoP proof's.")


class AccountKeyResponse(serializers.Serializer[Any]):
    """The account's key, encrypted."""

    jwe = serializers.CharField(help_text="Compact JWE whose plaintext is the 32 bytes of the key.")
    kid = serializers.CharField(help_text="Names the account's key. The JWE's own kid is the recipient's thumbprint.")
    algorithm = serializers.ChoiceField([ALGORITHM])
    encryption = serializers.ChoiceField([ENCRYPTION])
