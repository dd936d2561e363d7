"""The benchmark's product server and its customers: assertions, tokens, and payers."""

import time
import uuid
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import requests

from bench.proofs import SigningKey

ISSUER = "https://bench.example"
AUDIENCE = "https://gateway.example"
PRODUCT = "bench"
DID_PREFIX = "did:web:bench.example:"
KEY_ID = "bench-1"
ASSERTION_SECONDS = 55
TOKEN_AGE_SECONDS = 150
"""The age at which a token is replaced; it is valid for 300 seconds, and a lane takes far less than the remainder."""
CAPABILITIES = ["wallet:read", "usage:read", "infer:*"]


@dataclass(slots=True)
class Customer:
    """One account with its proof key and its current token."""

    name: str
    key: SigningKey = field(default_factory=SigningKey)
    token: str = ""
    token_at: float = 0.0

    @property
    def did(self) -> str:
        """Return the account's identifier."""
        return DID_PREFIX + self.name


class ProductServer:
    """Signs assertions with the integration's key, and exchanges them for customers' tokens."""

    def __init__(self, capabilities: Sequence[str] = CAPABILITIES, consents: Sequence[str] = ()) -> None:
        self.capabilities = list(capabilities)
        self.consents = list(consents)
        self._key = SigningKey()
        self._session = requests.Session()

    @property
    def jwks(self) -> dict[str, Any]:
        """Return the public keys for the gateway's configuration."""
        return {"keys": [{**self._key.jwk, "kid": KEY_ID}]}

    def sign_in(self, customer: Customer, base_url: str) -> None:
        """Get a token for the customer, unless its current one is recent enough."""
        if time.monotonic() - customer.token_at < TOKEN_AGE_SECONDS and customer.token:
            return
        body = {"assertion": self.sign_assertion(customer), "dpop_jwk": customer.key.jwk}
        answer = self._session.post(f"{base_url}/v1/auth/token/exchange", json=body, timeout=10)
        if not answer.ok:
            raise RuntimeError(f"token exchange answered {answer.status_code}: {answer.text}")
        customer.token = answer.json()["access_token"]
        customer.token_at = time.monotonic()

    def sign_assertion(self, customer: Customer) -> str:
        """Sign a fresh single-use assertion for a customer."""
        now = int(time.time())
        claims = {
            "iss": ISSUER,
            "aud": AUDIENCE,
            "sub": customer.did,
            "product": PRODUCT,
            "capabilities": self.capabilities,
            "consents": self.consents,
            "iat": now,
            "exp": now + ASSERTION_SECONDS,
            "jti": uuid.uuid4().hex,
        }
        return self._key.sign({"typ": "JWT", "alg": "ES256", "kid": KEY_ID}, claims).decode()
