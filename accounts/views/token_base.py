"""Base class of the token routes: DPoP proofs, rate limits and RFC 6749 section 5.2 errors."""

from functools import partial
from typing import Any

from django.conf import settings
from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request

from accounts.authentication import raw_path_of, verify_proof
from accounts.operations import limits, replays
from accounts.rules.jwk import PublicKey
from gateway.core.api.drf_internals import django_request
from gateway.core.api.viewsets import ApiViewSet
from gateway.core.contract.errors import InvalidDpopProof, InvalidRequest, UnsupportedGrantType, UseDpopNonce
from gateway.core.http.addresses import client_network

OF_KEY = limits.Rate("token proofs of a key", settings.TOKEN_PROOFS_PER_KEY_MINUTE)
documented = partial(extend_schema, tags=["Tokens"], auth=[])
NEVER_STORED = {"Cache-Control": "no-store", "Pragma": "no-cache"}


class TokenViewSet(ApiViewSet):
    """The base of the token routes."""

    error_style = "oauth"

    def proof_key(self, request: Request, *, refresh_token: str | None = None) -> PublicKey | None:
        """Check and record the request's proof, and return its key; return None if no proof was sent.

        `refresh_token` is the credential that the proof is sent with. Raises InvalidDpopProof or UseDpopNonce with
        status 400 (RFC 9449 sections 5 and 8), or RateLimited: otherwise anyone could fill the store with proofs of new
        keys.
        """
        now = timezone.now().timestamp()
        try:
            path = raw_path_of(request)
            proof = verify_proof(request.method or "", path, request.headers, now, refresh_token=refresh_token)
            if proof is None:
                return None
            self._limit(request, proof.key)
            replays.admit(proof.ticket)
        except (InvalidDpopProof, UseDpopNonce) as error:
            error.status = 400
            error.headers.pop("WWW-Authenticate", None)
            raise
        return proof.key

    def _limit(self, request: Request, key: PublicKey) -> None:
        now = timezone.now()
        if network := client_network(django_request(request)):
            rate = limits.Rate("token proofs of an address", settings.TOKEN_PROOFS_PER_ADDRESS_MINUTE)
            limits.take(rate, network, now=now)
        limits.take(OF_KEY, key.thumbprint, now=now)

    def check_key(self, request: Request, stated: PublicKey) -> None:
        """Raise InvalidDpopProof if the request has a proof of a key other than the one that its body states."""
        proven = self.proof_key(request)
        if proven and proven.thumbprint != stated.thumbprint:
            raise InvalidDpopProof("The proof was signed with a key other than dpop_jwk.", status=400)

    def required_key(self, request: Request, *, refresh_token: str | None = None) -> PublicKey:
        """Return the key of the request's proof, or raise InvalidDpopProof if none was sent."""
        key = self.proof_key(request, refresh_token=refresh_token)
        if key is None:
            raise InvalidDpopProof("Send a DPoP proof.", status=400)
        return key


def check_grant_type(parameters: Any, *known: str) -> str:
    """Return the request's grant type if it is one of these. Raises InvalidRequest or UnsupportedGrantType."""
    grant_type = parameters.get("grant_type")
    if grant_type is None:
        raise InvalidRequest("This parameter is required.", param="grant_type")
    if grant_type not in known:
        raise UnsupportedGrantType(param="grant_type")
    return str(grant_type)
