"""A product's server: signs assertions about its accounts and exchanges them for tokens."""

import secrets
import time
from collections.abc import Iterable
from datetime import timezone
from email.utils import parsedate_to_datetime
from typing import Any

import requests

from account_gateway_client.answers import json_of, reaching
from account_gateway_client.errors import GatewayError
from account_gateway_client.keys import ProductKey, ProofKey
from account_gateway_client.tokens import RENEW_BEFORE_SECONDS, AccessToken, CachedTokens

ASSERTION_SECONDS = 60
CLOCK_SECONDS = 30
EXCHANGE_PATH = "/v1/auth/token/exchange"


class ProductServer:
    """Speaks for a product's accounts. Issuer, audience and key are those of its integration at the gateway; where the
    audience is left out, it is the gateway's own address."""

    def __init__(
        self,
        base_url: str,
        *,
        issuer: str,
        product: str,
        key: ProductKey,
        audience: str | None = None,
        kid: str | None = None,
        timeout_seconds: float = 10.0,
    ) -> None:
        self.base_url = base_url.rstrip("/")
        self._claims = {"iss": issuer, "aud": audience or self.base_url, "product": product}
        self._key = key
        self._header = {"typ": "JWT", "kid": kid or key.kid}
        self._timeout_seconds = timeout_seconds

    def tokens_for(
        self,
        did: str,
        capabilities: Iterable[str],
        *,
        proof_key: ProofKey | None = None,
        consents: Iterable[str] = (),
    ) -> CachedTokens:
        """Return tokens for one account of the product, bound to `proof_key` (a new one where none is given)."""
        key, granted, agreed = proof_key or ProofKey.generate(), tuple(capabilities), tuple(consents)
        return CachedTokens(key, lambda: self.exchange(self.assertion(did, granted, key, agreed), key))

    def assertion(
        self, did: str, capabilities: Iterable[str], proof_key: ProofKey, consents: Iterable[str] = ()
    ) -> str:
        """Sign an assertion that serves once, within a minute, and only for the holder of `proof_key`."""
        issued_at = int(time.time())
        claims: dict[str, Any] = {
            **self._claims,
            "sub": did,
            "capabilities": list(capabilities),
            "iat": issued_at,
            "exp": issued_at + ASSERTION_SECONDS,
            "jti": secrets.token_urlsafe(24),
            "cnf": {"jkt": proof_key.thumbprint},
        }
        if agreed := list(consents):
            claims["consents"] = agreed
        return self._key.sign_jwt(self._header, claims)

    def exchange(self, assertion: str, proof_key: ProofKey) -> AccessToken:
        """Trade an assertion for a token, or raise GatewayError or GatewayUnreachable. Sends the public half of the proof key only."""
        requested_at = time.monotonic()
        members = {"assertion": assertion, "dpop_jwk": proof_key.jwk}
        with reaching(self.base_url):
            response = requests.post(self.base_url + EXCHANGE_PATH, json=members, timeout=self._timeout_seconds)
        body = _granted(response)
        return AccessToken(
            value=body["access_token"],
            scopes=frozenset(body.get("scope", "").split()),
            renew_at=requested_at + body["expires_in"] - RENEW_BEFORE_SECONDS,
        )


def _granted(response: requests.Response) -> dict[str, Any]:
    """Return the body. A refusal is told with the clock that an assertion was signed by, where that is wrong."""
    try:
        return json_of(response)
    except GatewayError as error:
        wrong = _wrong_clock(response.headers.get("Date", ""))
        if error.code != "invalid_grant" or wrong is None:
            raise
        reason = f"{error.reason} {wrong}" if error.reason else wrong
        raise GatewayError(
            error.status, error.code, error.message, request_id=error.request_id, reason=reason
        ) from error


def _wrong_clock(date: str) -> str | None:
    """Compare this computer's clock with the date of an answer, and say by how much it is wrong, if by more than 30 s."""
    try:
        told = parsedate_to_datetime(date).replace(tzinfo=timezone.utc)  # an HTTP date is in GMT
    except (TypeError, ValueError):
        return None
    seconds = time.time() - told.timestamp()
    if abs(seconds) <= CLOCK_SECONDS:
        return None
    return f"This computer's clock is {abs(seconds):.0f} s {'ahead of' if seconds > 0 else 'behind'} the gateway's."
