"""Wire formats of the public clients' token routes. SPEC: Public token request, Device refresh request."""

from typing import Any

from rest_framework import serializers

from accounts.operations.devices import Grant
from accounts.rules.public_clients import REDIRECT_URI_MAX_CHARACTERS
from accounts.rules.scopes import SCOPE_MAX_CHARACTERS
from accounts.serializers.tokens import PublicJwkField, TokenResponse, render_token
from gateway.core.api.serializers import NameField, StrictBooleanField, StrictStringField
from gateway.core.contract.limits import DEVICE_NAME_MAX_CHARACTERS

AUTHORIZATION_CODE = "authorization_code"
REFRESH_TOKEN = "refresh_token"  # noqa: S105
CODE_MAX_CHARACTERS = 256
VERIFIER_MAX_CHARACTERS = 128
VERIFIER_MIN_CHARACTERS = 43


class CodeRequest(serializers.Serializer[Any]):
    """The members that all redemptions of a code have."""

    code = StrictStringField(max_length=CODE_MAX_CHARACTERS, trim_whitespace=False)
    code_verifier = StrictStringField(
        min_length=VERIFIER_MIN_CHARACTERS, max_length=VERIFIER_MAX_CHARACTERS, trim_whitespace=False
    )
    client_id = StrictStringField(max_length=255, trim_whitespace=False)
    redirect_uri = StrictStringField(max_length=REDIRECT_URI_MAX_CHARACTERS, trim_whitespace=False)


class PublicTokenRequest(CodeRequest):
    """The body of POST /v1/public/token."""

    dpop_jwk = PublicJwkField()
    device_session = StrictBooleanField(required=False, default=False)
    device_name = NameField(min_length=1, max_length=DEVICE_NAME_MAX_CHARACTERS, required=False)


class OAuthCodeRequest(CodeRequest):
    """The authorization_code grant of the standard token endpoint. A client requests a device session explicitly."""

    grant_type = serializers.ChoiceField([AUTHORIZATION_CODE])
    device_session = serializers.BooleanField(required=False, default=False)
    device_name = NameField(min_length=1, max_length=DEVICE_NAME_MAX_CHARACTERS, required=False)


class CredentialField(StrictStringField):
    """A refresh credential. Any text is accepted here, because an invalid credential is `invalid_grant`, not an invalid
    request.
    """

    def __init__(self, **options: Any) -> None:
        super().__init__(allow_blank=True, trim_whitespace=False, **options)
        self.validators = []  # NUL etc. cannot reach the database: a malformed credential is not looked up


class RefreshRequest(serializers.Serializer[Any]):
    """The body of POST /v1/public/device/token, and the refresh_token grant."""

    grant_type = serializers.ChoiceField([REFRESH_TOKEN])
    refresh_token = CredentialField()
    scope = StrictStringField(max_length=SCOPE_MAX_CHARACTERS, required=False, trim_whitespace=False)


class RevocationRequest(serializers.Serializer[Any]):
    """The body of POST /v1/public/device/revoke."""

    refresh_token = CredentialField()


class DeviceSessionResponse(serializers.Serializer[Any]):
    """A device session, in a token response."""

    id = serializers.CharField()
    name = serializers.CharField(allow_blank=True)
    expires_at = serializers.IntegerField(help_text="Unix seconds.")


class PublicTokenResponse(TokenResponse):
    """A token for a public client. The last two members are present only with a device session."""

    refresh_token = serializers.CharField(required=False)
    device_session = DeviceSessionResponse(required=False)


def render_grant(grant: Grant) -> dict[str, Any]:
    """Render a token and, for a device session, its refresh credential."""
    body = render_token(grant.token)
    if grant.refresh_token is None:
        return body
    session = grant.session
    described = {"id": session.pk, "name": session.name, "expires_at": int(session.expires_at.timestamp())}
    return body | {"refresh_token": grant.refresh_token, "device_session": described}
