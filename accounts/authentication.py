"""Authenticates protected requests by their DPoP proof and access token. RFC 9449 section 7.

`verify` does every check except the replay check, which records the proof. `DPoPAuthentication` does that for the
management routes; the metered path does it inside its own SQL statement.
"""

import hashlib
import re
from collections.abc import Mapping
from typing import Any

from django.conf import settings
from django.http import HttpRequest
from django.utils import timezone
from rest_framework.authentication import BaseAuthentication
from rest_framework.request import Request

from accounts.operations import nonces, presented_tokens, replays
from accounts.operations.keyring import KeysOutdated, keyring
from accounts.rules import dpop, htu, jwk, jwt
from accounts.rules.dpop import Proof, ProofTicket
from accounts.rules.jwk import PublicKey
from accounts.rules.principal import Principal
from gateway.core.api.challenges import challenge, challenged
from gateway.core.api.drf_internals import django_request
from gateway.core.contract.errors import InvalidDpopProof, InvalidToken
from gateway.core.contract.route_limits import MANAGEMENT
from gateway.core.contract.values import value_class
from gateway.core.http.rate_limits import note

_CREDENTIALS = re.compile(r"(?P<scheme>[A-Za-z]+) +(?P<token>[A-Za-z0-9_.-]+) *")


@value_class(frozen=True, slots=True)
class Verified:
    """A caller whose proof and token are valid, and the ticket for recording the proof later."""

    principal: Principal
    ticket: ProofTicket


async def verify(method: str, raw_path: str, headers: Mapping[Any, Any], now: float) -> Verified:
    """Check a request's proof and token at Unix time `now`, without I/O, except to load signing keys that are not
    cached yet.

    `raw_path` is the path as received, not decoded. `headers` maps names (text or bytes; in lower case if the mapping
    is case-sensitive) to values, duplicates joined by a comma, which are refused. Raises InvalidDpopProof,
    UseDpopNonce, InvalidToken or NotReady, each with its challenge.
    """
    await keyring.current()
    try:
        return _verify(method, raw_path, headers, now)
    except KeysOutdated:
        await keyring.renewed()
        return _verify(method, raw_path, headers, now)


def verify_sync(method: str, raw_path: str, headers: Mapping[Any, Any], now: float) -> Verified:
    """Check a request as `verify` does, in a thread that may block."""
    keyring.current_sync()
    try:
        return _verify(method, raw_path, headers, now)
    except KeysOutdated:
        keyring.renew_sync()
        return _verify(method, raw_path, headers, now)


def verify_proof(
    method: str, raw_path: str, headers: Mapping[Any, Any], now: float, *, refresh_token: str | None = None
) -> Proof | None:
    """Check the proof of a token request, which has no access token; return None if no proof was sent.

    A proof sent with a refresh token may carry that token's hash as its `ath`. Any other `ath` is refused.
    """
    sent = _header(headers, "dpop")
    if sent is None:
        return None
    proof = _read_proof(sent, method, raw_path, now)
    bound = refresh_token is not None and "ath" in proof.claims
    dpop.check_access_token_hash(proof, _hash_of(refresh_token) if bound and refresh_token else None)
    return proof


def _hash_of(refresh_token: str) -> str:
    return jwt.encode(hashlib.sha256(refresh_token.encode("utf-8", "surrogatepass")).digest())


class DPoPAuthentication(BaseAuthentication):
    """Authenticates requests to the management routes and records their proofs."""

    def authenticate(self, request: Request) -> tuple[Principal, ProofTicket]:
        """Return the caller, or raise RateLimited or the catalogue error with its challenge. Runs one SQL statement."""
        now = timezone.now()
        verified = verify_sync(request.method or "", raw_path_of(request), request.headers, now.timestamp())
        principal, ticket = verified.principal, verified.ticket
        left, refused = replays.admit_within(
            MANAGEMENT, ticket, did=principal.did, session_id=principal.session_id, now=now
        )
        note(django_request(request), left)
        if refused:
            raise refused
        return principal, ticket

    def authenticate_header(self, request: Request) -> str:
        """Return the challenge for responses that have none."""
        return challenge("invalid_token", InvalidToken.default_message)


def caller(request: Request) -> Principal:
    """Return the caller of a request authenticated by `DPoPAuthentication`."""
    principal = request.user
    assert isinstance(principal, Principal)
    return principal


def proof_key(request: Request) -> PublicKey:
    """Return the key that signed the proof of a request authenticated by `DPoPAuthentication`."""
    return jwk.parse(jwt.parse(request.headers["DPoP"]).header["jwk"])


def raw_path_of(request: Request | HttpRequest) -> str:
    """Return the path as received if the server provides it; otherwise re-encode the decoded path."""
    http_request: Any = django_request(request) if isinstance(request, Request) else request
    raw = getattr(http_request, "scope", {}).get("raw_path")
    if raw:
        return raw.partition(b"?")[0].decode("latin-1")
    return http_request.get_full_path_info().partition("?")[0]


def _verify(method: str, raw_path: str, headers: Mapping[Any, Any], now: float) -> Verified:
    try:
        return _verify_unchallenged(method, raw_path, headers, now)
    except (InvalidDpopProof, InvalidToken) as error:
        raise challenged(error) from None


def _verify_unchallenged(method: str, raw_path: str, headers: Mapping[Any, Any], now: float) -> Verified:
    credentials = _header(headers, "authorization")
    if credentials is not None and not credentials[:5].lower() == "dpop ":
        raise InvalidToken("Send the access token as Authorization: DPoP <token>, with a proof.")
    sent = _header(headers, "dpop")
    if sent is None:
        raise InvalidDpopProof("Send a DPoP proof.")
    proof = _read_proof(sent, method, raw_path, now)
    token = _token(credentials)
    digest = hashlib.sha256(token.encode("ascii")).digest()
    principal = presented_tokens.holder_of(token, digest, now)
    if principal.jkt != proof.key.thumbprint:
        raise InvalidToken("The access token is bound to another key.")
    dpop.check_access_token_hash(proof, jwt.encode(digest))
    return Verified(principal, proof.ticket)


def _read_proof(sent: str, method: str, raw_path: str, now: float) -> Proof:
    try:
        target = htu.target(settings.GATEWAY_BASE_URL, raw_path)
    except ValueError as error:
        raise InvalidDpopProof("The request's path is not a valid URL path.", private=str(error)) from None
    return dpop.read_proof(
        sent,
        method=method,
        target=target,
        now=now,
        require_exp=settings.DPOP_REQUIRE_EXP,
        check_nonce=nonces.checker(now),
    )


def _token(credentials: str | None) -> str:
    parts = _CREDENTIALS.fullmatch(credentials) if credentials else None
    if parts is None:
        raise InvalidToken("Send the access token as Authorization: DPoP <token>.")
    return parts["token"]


def _header(headers: Mapping[Any, Any], name: str) -> str | None:
    """Read a header from a mapping of text or of bytes."""
    value = headers.get(name)
    if value is None and isinstance(headers, dict):  # Django's header mapping is not a dict and contains only text
        value = headers.get(name.encode("ascii"))
    return value.decode("latin-1") if isinstance(value, bytes) else value
