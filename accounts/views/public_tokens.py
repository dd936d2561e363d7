"""The public clients' token routes. SPEC: Browser authorization with PKCE, Scopes and device sessions."""

from typing import Any

from django.utils import timezone
from drf_spectacular.utils import OpenApiParameter
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.operations import codes, devices
from accounts.operations.codes import Redemption
from accounts.operations.devices import Grant
from accounts.rules import scopes
from accounts.rules.jwk import PublicKey
from accounts.serializers.public_tokens import (
    REFRESH_TOKEN,
    PublicTokenRequest,
    PublicTokenResponse,
    RefreshRequest,
    RevocationRequest,
    render_grant,
)
from accounts.views.token_base import NEVER_STORED, TokenViewSet, check_grant_type, documented
from gateway.core.api.access import public
from gateway.core.api.schema import refuses
from gateway.core.api.serializers import read
from gateway.core.contract.errors import InvalidClient, InvalidScope, RateLimited, UnsupportedGrantType

PROOF = OpenApiParameter("DPoP", location=OpenApiParameter.HEADER, description="The DPoP proof for this request.")
REFRESH_PROOF = OpenApiParameter(
    "DPoP",
    location=OpenApiParameter.HEADER,
    required=True,
    description="A DPoP proof signed with the session's key, either without `ath` or with the hash of the refresh token.",
)


class PublicToken(TokenViewSet):
    """Redeems authorization codes for tokens bound to a key that the request contains."""

    @documented(
        operation_id="redeem_code",
        summary="Redeem an authorization code",
        parameters=[PROOF],
        request=PublicTokenRequest,
        responses={200: PublicTokenResponse},
    )
    @refuses(InvalidClient, RateLimited)
    @public
    def redeem(self, request: Request) -> Response:
        """Return a DPoP-bound token valid for 300 seconds and, if requested, a device session of 30 days."""
        body = read(PublicTokenRequest, request.data)
        key: PublicKey = body["dpop_jwk"]
        self.check_key(request, key)
        return answer(codes.redeem(redemption(body, key), now=timezone.now()))


class DeviceToken(TokenViewSet):
    """Rotates the refresh credentials of device sessions."""

    @documented(
        operation_id="refresh_device",
        summary="Rotate a device session's refresh credential",
        parameters=[REFRESH_PROOF],
        request=RefreshRequest,
        responses={200: PublicTokenResponse},
    )
    @refuses(UnsupportedGrantType, InvalidClient, RateLimited)
    @public
    def refresh(self, request: Request) -> Response:
        """Return a new token and a new refresh credential; the old credential can no longer be used."""
        check_grant_type(request.data, REFRESH_TOKEN)
        body = read(RefreshRequest, request.data)
        key = self.required_key(request, refresh_token=body["refresh_token"])
        return answer(rotate(body, key))


class DeviceRevocation(TokenViewSet):
    """Ends device sessions."""

    @documented(
        operation_id="revoke_device",
        summary="End a device session",
        parameters=[REFRESH_PROOF],
        request=RevocationRequest,
        responses={204: None},
    )
    @refuses(RateLimited)
    @public
    def revoke(self, request: Request) -> Response:
        """End the session. The response is the same if it had already ended."""
        body = read(RevocationRequest, request.data)
        key = self.required_key(request, refresh_token=body["refresh_token"])
        devices.revoke_credential(refresh_token=body["refresh_token"], jkt=key.thumbprint, now=timezone.now())
        return Response(status=204, headers=NEVER_STORED)


def redemption(body: dict[str, Any], key: PublicKey) -> Redemption:
    """Return the redemption for a validated body and its key. A device name without `device_session` is ignored."""
    return Redemption(
        code=body["code"],
        verifier=body["code_verifier"],
        client_id=body["client_id"],
        redirect_uri=body["redirect_uri"],
        jkt=key.thumbprint,
        device_name=body.get("device_name", "") if body["device_session"] else None,
    )


def rotate(body: dict[str, Any], key: PublicKey) -> Grant:
    """Rotate the refresh credential of a validated body."""
    try:
        narrowed = scopes.parse(body["scope"]) if "scope" in body else None
    except ValueError:
        raise InvalidScope("The scope must be a list of scopes separated by spaces.", param="scope") from None
    return devices.rotate(refresh_token=body["refresh_token"], jkt=key.thumbprint, scopes=narrowed, now=timezone.now())


def answer(grant: Grant) -> Response:
    """Return a token response that must not be cached."""
    return Response(render_grant(grant), headers=NEVER_STORED)
