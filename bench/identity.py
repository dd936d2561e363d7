"""The benchmark's product and its customers, who speak to the gateway with this repository's own Python client."""

import time
import uuid
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from account_gateway_client import ProductKey, ProductServer, call_headers
from account_gateway_client.keys import ProofKey
from account_gateway_client.proofs import dpop_proof
from bench.servers import GATEWAY_BASE_URL

ISSUER = "https://bench.example"
AUDIENCE = "https://gateway.example"
PRODUCT = "bench"
DID_PREFIX = "did:web:bench.example:"
TOKEN_AGE_SECONDS = 150
"""The age at which a token is replaced; it is valid for 300 seconds, and a lane takes far less than the remainder."""
CAPABILITIES = ["wallet:read", "usage:read", "infer:*"]


@dataclass(slots=True)
class Customer:
    """One account with its proof key and its current token."""

    name: str
    key: ProofKey = field(default_factory=ProofKey.generate)
    token: str = ""
    token_at: float = 0.0

    @property
    def did(self) -> str:
        """Return the account's identifier."""
        return DID_PREFIX + self.name

    def headers(self, method: str, path: str, max_cost_microusd: int) -> dict[str, str]:
        """Build the headers of one new metered call; servers accept its proof for about a minute."""
        proof = dpop_proof(self.key, method, GATEWAY_BASE_URL + path, access_token=self.token)
        call = call_headers(max_cost_microusd=max_cost_microusd, idempotency_key=fresh_key(self.name))
        return {"Authorization": f"DPoP {self.token}", "DPoP": proof, **call}


class Product:
    """The integration with the gateway, and the tokens of its customers."""

    def __init__(self, capabilities: Sequence[str] = CAPABILITIES, consents: Sequence[str] = ()) -> None:
        self._capabilities, self._consents = list(capabilities), list(consents)
        self._key = ProductKey.generate()

    def configuration(self) -> dict[str, Any]:
        """Return the sections of gateway.yaml that describe the product and its integration."""
        integration = {
            "product": PRODUCT,
            "issuer": ISSUER,
            "audience": AUDIENCE,
            "did_prefix": DID_PREFIX,
            "capabilities": self._capabilities,
            "jwks": self._key.public_jwks(),
        }
        return {
            "products": [{"slug": PRODUCT, "name": "Bench", "seat_price_microusd": 0}],
            "integrations": [integration],
        }

    def assertion(self, customer: Customer) -> str:
        """Sign a fresh single-use assertion for a customer."""
        return self._server(GATEWAY_BASE_URL).assertion(customer.did, self._capabilities, customer.key, self._consents)

    def sign_in(self, customer: Customer, base_url: str) -> None:
        """Get a token for the customer, unless its current one is recent enough."""
        if time.monotonic() - customer.token_at < TOKEN_AGE_SECONDS and customer.token:
            return
        customer.token = self._server(base_url).exchange(self.assertion(customer), customer.key).value
        customer.token_at = time.monotonic()

    def _server(self, base_url: str) -> ProductServer:
        return ProductServer(base_url, issuer=ISSUER, product=PRODUCT, key=self._key, audience=AUDIENCE)


def fresh_key(prefix: str) -> str:
    """Create a new idempotency key."""
    return f"{prefix}-{uuid.uuid4().hex}"
