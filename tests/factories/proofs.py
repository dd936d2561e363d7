"""Makes real signed proofs, assertions and tokens."""

import base64
import hashlib
import json
import time
import uuid
from collections.abc import Iterable
from typing import Any

from cryptography.hazmat.primitives.asymmetric import ec, ed25519
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature
from cryptography.hazmat.primitives.hashes import SHA256
from django.utils import timezone

from accounts.operations import tokens
from accounts.rules import jwk

BASE_URL = "https://gateway.example"  # what settings.test says
ISSUER = "https://studio.example"


def b64(data: bytes) -> str:
    """Encode as base64url without padding."""
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def access_token_hash(token: str) -> str:
    """Compute a proof's `ath`."""
    return b64(hashlib.sha256(token.encode()).digest())


class Signer:
    """A client's proof key."""

    def __init__(self, alg: str = "ES256") -> None:
        self.alg = alg
        self.private: ec.EllipticCurvePrivateKey | ed25519.Ed25519PrivateKey = (
            ec.generate_private_key(ec.SECP256R1()) if alg == "ES256" else ed25519.Ed25519PrivateKey.generate()
        )
        self.public = jwk.of_public_key(self.private.public_key())

    @property
    def jwk(self) -> dict[str, str]:
        """The public key as a JWK."""
        return dict(self.public.members)

    @property
    def jkt(self) -> str:
        """The key's thumbprint."""
        return self.public.thumbprint

    def sign(self, header: dict[str, Any], claims: dict[str, Any]) -> str:
        """Sign any token; a header or claim of None is left out."""
        full_header = {"alg": self.alg, **_present(header)}
        return self.sign_raw(json.dumps(full_header).encode(), json.dumps(_present(claims)).encode())

    def sign_raw(self, header: bytes, claims: bytes) -> str:
        """Sign any bytes as header and claims."""
        signing_input = f"{b64(header)}.{b64(claims)}"
        return f"{signing_input}.{b64(self.signature(signing_input.encode()))}"

    def signature(self, data: bytes) -> bytes:
        """Sign bytes with the key's own algorithm, as JOSE has it."""
        if isinstance(self.private, ed25519.Ed25519PrivateKey):
            return self.private.sign(data)
        r, s = decode_dss_signature(self.private.sign(data, ec.ECDSA(SHA256())))
        return r.to_bytes(32, "big") + s.to_bytes(32, "big")

    def proof(
        self,
        method: str,
        url: str,
        access_token: str | None = None,
        *,
        header: dict[str, Any] | None = None,
        **claims: Any,
    ) -> str:
        """Make a proof. Keyword arguments override claims, `header` overrides header members; None leaves one out."""
        all_claims = {
            "htm": method,
            "htu": url if "://" in url else BASE_URL + url,
            "iat": int(time.time()),
            "jti": uuid.uuid4().hex,
            "ath": access_token_hash(access_token) if access_token else None,
            **claims,
        }
        return self.sign({"typ": "dpop+jwt", "jwk": self.jwk, **(header or {})}, all_claims)

    def headers(self, method: str, url: str, access_token: str, **overrides: Any) -> dict[str, str]:
        """Make the two headers of a protected request."""
        return {
            "Authorization": f"DPoP {access_token}",
            "DPoP": self.proof(method, url, access_token, **overrides),
        }


class ProductServer:
    """A trusted product server with a signing key of its own."""

    def __init__(
        self,
        issuer: str = ISSUER,
        *,
        audience: str = BASE_URL,
        product: str = "studio",
        did_prefix: str = "did:web:studio.example:",
        alg: str = "ES256",
        kid: str = "k1",
    ) -> None:
        self.issuer, self.audience, self.product, self.did_prefix = issuer, audience, product, did_prefix
        self.kid = kid
        self.signer = Signer(alg)

    @property
    def jwks(self) -> dict[str, Any]:
        """The key set that an operator configures."""
        return {"keys": [{**self.signer.jwk, "kid": self.kid}]}

    def did(self, name: str = "alice") -> str:
        """Name one of the product's people."""
        return self.did_prefix + name

    def assertion(
        self,
        name: str = "alice",
        *,
        capabilities: Iterable[str] = ("wallet:read", "usage:read"),
        header: dict[str, Any] | None = None,
        signer: Signer | None = None,
        **claims: Any,
    ) -> str:
        """Make an assertion about an account. Keyword arguments override claims; None leaves one out."""
        now = int(time.time())
        all_claims = {
            "iss": self.issuer,
            "aud": self.audience,
            "sub": self.did(name),
            "product": self.product,
            "capabilities": list(capabilities),
            "iat": now,
            "exp": now + 60,
            "jti": uuid.uuid4().hex,
            **claims,
        }
        return (signer or self.signer).sign({"typ": "JWT", "kid": self.kid, **(header or {})}, all_claims)


def mint_token(did: str, scopes: Iterable[str], signer: Signer, **fields: Any) -> str:
    """Mint an access token for a DID and scopes, bound to the signer's key. The account must exist to be admitted."""
    fields.setdefault("now", timezone.now())
    fields.setdefault("client_id", ISSUER)
    return tokens.mint(did=did, scopes=scopes, jkt=signer.jkt, **fields).access_token


def _present(members: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in members.items() if value is not None}
