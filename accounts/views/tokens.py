"""The two token routes. SPEC: Trusted server exchange; RFC 6749 section 3.2, RFC 7523, RFC 9449 section 5."""

from typing import Any

from django.utils import timezone
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.serializers import Serializer

from accounts.authentication import raw_path_of, verify_proof
from accounts.operations import replays
from accounts.operations.exchange import exchange
from accounts.parsers import StrictFormParser
from accounts.rules.assertion import JWT_BEARER
from accounts.rules.jwk import PublicKey
from accounts.serializers.tokens import ExchangeRequest, OAuthError, OAuthTokenRequest, TokenResponse, render_token
from gateway.api.access import public
from gateway.api.viewsets import ApiViewSet
from gateway.contract.errors import InvalidDpopProof, InvalidRequest, UnsupportedGrantType, UseDpopNonce

NEVER_STORED = {"Cache-Control": "no-store", "Pragma": "no-cache"}
PROOF_HEADER = OpenApiParameter("DPoP", location=OpenApiParameter.HEADER, description="Proof for this request.")


class TokenViewSet(ApiViewSet):
    """The base of both routes: refuses as RFC 6749 section 5.2 says."""

    error_style = "oauth"

    def proof_key(self, request: Request) -> PublicKey | None:
        """Check and take the request's proof, and return its key; None where no proof was sent.

        Raises InvalidDpopProof or UseDpopNonce with status 400 (RFC 9449 sections 5 and 8).
        """
        now = timezone.now().timestamp()
        try:
            proof = verify_proof(request.method or "", raw_path_of(request), request.headers, now)
            if proof is None:
                return None
            replays.admit(proof.ticket)
        except (InvalidDpopProof, UseDpopNonce) as error:
            error.status = 400
            error.headers.pop("WWW-Authenticate", None)
            raise
        return proof.key

    def exchange_for(self, key: PublicKey, body: dict[str, Any]) -> Response:
        """Exchange the body's assertion for a token that is bound to the key; no cache may keep the answer."""
        token = exchange(assertion=body["assertion"], jkt=key.thumbprint, scope=body.get("scope"), now=timezone.now())
        return Response(render_token(token), headers=NEVER_STORED)


class TokenExchange(TokenViewSet):
    """Where a trusted server exchanges an assertion, for a key whose public part it sends."""

    @extend_schema(
        operation_id="exchange_assertion",
        tags=["Tokens"],
        summary="Exchange a product assertion for an access token",
        parameters=[PROOF_HEADER],
        request=ExchangeRequest,
        responses={200: TokenResponse, 400: OAuthError, 413: OAuthError, 415: OAuthError},
        auth=[],
    )
    @public
    def exchange(self, request: Request) -> Response:
        """Return a DPoP-bound token of 300 seconds; the assertion is consumed."""
        body = _read(ExchangeRequest(data=request.data))
        key: PublicKey = body["dpop_jwk"]
        proven = self.proof_key(request)
        if proven and proven.thumbprint != key.thumbprint:
            raise InvalidDpopProof("The proof is by another key than dpop_jwk.", status=400)
        return self.exchange_for(key, body)


class OAuthToken(TokenViewSet):
    """The token endpoint of the metadata, for stock OAuth clients with DPoP."""

    parser_classes = [StrictFormParser]

    @extend_schema(
        operation_id="oauth_token",
        tags=["Tokens"],
        summary="Redeem a grant at the standard token endpoint",
        parameters=[OpenApiParameter("DPoP", location=OpenApiParameter.HEADER, required=True)],
        request={"application/x-www-form-urlencoded": OAuthTokenRequest},
        responses={200: TokenResponse, 400: OAuthError, 413: OAuthError, 415: OAuthError},
        auth=[],
    )
    @public
    def redeem(self, request: Request) -> Response:
        """Return a token that is bound to the key of the DPoP header."""
        body = self._grant(request.data)
        key = self.proof_key(request)
        if key is None:
            raise InvalidDpopProof("Send a DPoP proof.", status=400)
        return self.exchange_for(key, body)

    def _grant(self, parameters: Any) -> dict[str, Any]:
        grant_type = parameters.get("grant_type")
        if grant_type is None:
            raise InvalidRequest("This parameter is required.", param="grant_type")
        if grant_type != JWT_BEARER:
            raise UnsupportedGrantType(param="grant_type")
        return _read(OAuthTokenRequest(data=parameters))


def _read(body: Serializer[Any]) -> dict[str, Any]:
    body.is_valid(raise_exception=True)
    return body.validated_data
