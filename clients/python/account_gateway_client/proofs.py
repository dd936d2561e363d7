"""DPoP proofs. RFC 9449 section 4.2."""

import hashlib
import secrets
import time
from typing import Any

from account_gateway_client.keys import ProofKey, base64url
from account_gateway_client.urls import target_of

PROOF_SECONDS = 60


def dpop_proof(
    key: ProofKey, method: str, url: str, *, access_token: str | None = None, nonce: str | None = None
) -> str:
    """Sign a proof for exactly one request: it is refused a second time.

    `url` may carry a query and a fragment; the proof names it without. With an access token the proof is bound to it.
    """
    issued_at = int(time.time())
    claims: dict[str, Any] = {
        "jti": secrets.token_urlsafe(24),
        "htm": method.upper(),
        "htu": target_of(url),
        "iat": issued_at,
        "exp": issued_at + PROOF_SECONDS,
    }
    if access_token is not None:
        claims["ath"] = base64url(hashlib.sha256(access_token.encode("ascii")).digest())
    if nonce is not None:
        claims["nonce"] = nonce
    return key.sign_jwt({"typ": "dpop+jwt", "jwk": key.jwk}, claims)
