"""Parses public keys of recipients of encrypted data. RFC 7518 section 4.6, RFC 8037 section 3.2.

Two kinds are supported: EC on P-256 and OKP on X25519. Like a proof key, a recipient's key has exactly one valid form.
An `alg` must be a key agreement algorithm or that of a proof key, which is the recipient by default. Other declarations
of purpose are ignored.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from cryptography.hazmat.primitives.asymmetric import x25519

from accounts.rules import jwk
from accounts.rules.jwk import PRIVATE_MEMBERS, JwkError, PublicKey

ALGORITHMS = ("ECDH-ES", "ECDH-ES+A256KW", "ES256")


@dataclass(frozen=True, slots=True)
class Recipient:
    """A checked public key for key agreement: its required members, and its RFC 7638 thumbprint."""

    members: Mapping[str, str]
    thumbprint: str


def parse(sent: object) -> Recipient:
    """Parse a recipient's public JWK, or raise JwkError."""
    if not isinstance(sent, dict):
        raise JwkError("not an object")
    if not PRIVATE_MEMBERS.isdisjoint(sent):
        raise JwkError("carries private key material")
    if sent.get("alg", ALGORITHMS[0]) not in ALGORITHMS:
        raise JwkError("alg is not ECDH-ES+A256KW")
    match sent.get("kty"), sent.get("crv"):
        case "EC", "P-256":
            return of_proof_key(jwk.parse({name: sent.get(name) for name in ("kty", "crv", "x", "y")}))
        case "OKP", "X25519":
            return _x25519(sent)
    raise JwkError("neither an EC key on P-256 nor an OKP key on X25519")


def of_proof_key(key: PublicKey) -> Recipient:
    """Return a proof key as the recipient, or raise JwkError if its kind can only sign."""
    if key.alg != "ES256":
        raise JwkError("an Ed25519 key cannot be encrypted to; send public_jwk")
    return Recipient(key.members, key.thumbprint)


def _x25519(sent: dict[str, Any]) -> Recipient:
    x = jwk.coordinate(sent, "x")
    public = x25519.X25519PublicKey.from_public_bytes(jwk.decode(x))
    try:
        x25519.X25519PrivateKey.generate().exchange(public)  # a point of small order gives all zeros: RFC 7748, 6.1
    except ValueError:
        raise JwkError("a point of small order") from None
    members = {"crv": "X25519", "kty": "OKP", "x": x}
    return Recipient(members, jwk.thumbprint(members))
