"""Token routes for product servers and standard OAuth clients.

SPEC: Trusted server exchange; RFC 6749 section 3.2, RFC 7523, RFC 9449 section 5.
"""

from collections.abc import Callable
from typing import Any

from django.utils import timezone
from drf_spectacular.utils import OpenApiParameter, PolymorphicProxySerializer
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.operations import codes
from accounts.operations.exchange import exchange
from accounts.parsers import StrictFormParser
from accounts.rules.assertion import JWT_BEARER
from accounts.rules.jwk import PublicKey
from accounts.serializers.public_tokens import (
    AUTHORIZATION_CODE,
    REFRESH_TOKEN,
    OAuthCodeRequest,
    PublicTokenResponse,
    RefreshRequest,
)
from accounts.serializers.tokens import ExchangeRequest, OAuthTokenRequest, TokenResponse, render_token
from accounts.views.public_tokens import PROOF, answer, redemption, rotate
from accounts.views.token_base import NEVER_STORED, TokenViewSet, check_grant_type, documented
from gateway.core.api.access import public
from gateway.core.api.schema import refuses
from gateway.core.api.serializers import read
from gateway.core.contract.errors import InvalidClient, RateLimited, UnsupportedGrantType

OAUTH_REQUEST = PolymorphicProxySerializer(
    component_name="OAuthGrant",
    serializers={
        JWT_BEARER: OAuthTokenRequest,
        AUTHORIZATION_CODE: OAuthCodeRequest,
        REFRESH_TOKEN: RefreshRequest,
    },
    resource_type_field_name="grant_type",
)


class TokenExchange(TokenViewSet):
    """Exchanges product assertions for tokens bound to a key that the request contains."""

    @documented(
        operation_id="exchange_assertion",
        summary="Exchange a product assertion for an access token",
        parameters=[PROOF],
        request=ExchangeRequest,
        responses={200: TokenResponse},
    )
    @refuses(RateLimited)
    @public
    def exchange(self, request: Request) -> Response:
        """Return a DPoP-bound token valid for 300 seconds; the assertion cannot be used again."""
        body = read(ExchangeRequest, request.data)
        key: PublicKey = body["dpop_jwk"]
        self.check_key(request, key)
        return _exchange(body, key)


class OAuthToken(TokenViewSet):
    """The token endpoint of the metadata, for standard OAuth clients with DPoP."""

    parser_classes = [StrictFormParser]

    @documented(
        operation_id="oauth_token",
        summary="Redeem a grant at the standard token endpoint",
        parameters=[OpenApiParameter("DPoP", location=OpenApiParameter.HEADER, required=True)],
        request={"application/x-www-form-urlencoded": OAUTH_REQUEST},
        responses={200: PublicTokenResponse},
    )
    @refuses(UnsupportedGrantType, InvalidClient, RateLimited)
    @public
    def redeem(self, request: Request) -> Response:
        """Return a token bound to the key of the DPoP proof."""
        parameters: Any = request.data
        serializer, respond = GRANTS[check_grant_type(parameters, *GRANTS)]
        body = read(serializer, parameters)
        return respond(body, self.required_key(request, refresh_token=body.get("refresh_token")))


def _exchange(body: dict[str, Any], key: PublicKey) -> Response:
    token = exchange(assertion=body["assertion"], jkt=key.thumbprint, scope=body.get("scope"), now=timezone.now())
    return Response(render_token(token), headers=NEVER_STORED)


def _redeem_code(body: dict[str, Any], key: PublicKey) -> Response:
    return answer(codes.redeem(redemption(body, key), now=timezone.now()))


def _refresh(body: dict[str, Any], key: PublicKey) -> Response:
    return answer(rotate(body, key))


GRANTS: dict[str, tuple[type[Any], Callable[[dict[str, Any], PublicKey], Response]]] = {
    JWT_BEARER: (OAuthTokenRequest, _exchange),
    AUTHORIZATION_CODE: (OAuthCodeRequest, _redeem_code),
    REFRESH_TOKEN: (RefreshRequest, _refresh),
}
