"""Base class of the token routes: DPoP proofs, rate limits and RFC 6749 section 5.2 errors."""

from functools import partial
from typing import Any

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request

from accounts.authentication import raw_path_of, verify_proof
from accounts.operations import limits, replays
from accounts.rules.jwk import PublicKey
from gateway.core.api.drf_internals import django_request
from gateway.core.api.viewsets import ApiViewSet
from gateway.core.contract.errors import InvalidDpopProof, InvalidRequest, UnsupportedGrantType, UseDpopNonce
from gateway.core.contract.route_limits import TOKENS_OF_ADDRESS, TOKENS_OF_KEY
from gateway.core.http.addresses import client_network
from gateway.core.http.rate_limits import note

documented = partial(extend_schema, tags=["Tokens"], auth=[])
NEVER_STORED = {"Cache-Control": "no-store", "Pragma": "no-cache"}


class TokenViewSet(ApiViewSet):
    """The base of the token routes."""

    error_style = "oauth"

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        """Count the request, with a proof or without: each costs a look-up, and anyone can make keys. Raises RateLimited."""
        super().initial(request, *args, **kwargs)
        sent = django_request(request)
        if self.action and (network := client_network(sent)):
            note(sent, limits.take(TOKENS_OF_ADDRESS, network, now=timezone.now()))

    def proof_key(self, request: Request, *, refresh_token: str | None = None) -> PublicKey | None:
        """Check and record the request's proof, and return its key; return None if no proof was sent.

        `refresh_token` is the credential that the proof is sent with. Raises InvalidDpopProof or UseDpopNonce with
        status 400 (RFC 9449 sections 5 and 8), or RateLimited after too many proofs of this key.
        """
        now = timezone.now().timestamp()
        try:
            path = raw_path_of(request)
            proof = verify_proof(request.method or "", path, request.headers, now, refresh_token=refresh_token)
            if proof is None:
                return None
            note(django_request(request), limits.take(TOKENS_OF_KEY, proof.key.thumbprint, now=timezone.now()))
            replays.admit(proof.ticket)
        except (InvalidDpopProof, UseDpopNonce) as error:
            error.status = 400
            error.headers.pop("WWW-Authenticate", None)
            raise
        return proof.key

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
