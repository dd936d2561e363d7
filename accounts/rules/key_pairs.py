"""ES256 key pairs of the gateway itself: made, stored as PEM, published as JWKs."""

from typing import Any

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import load_pem_private_key

from accounts.rules import jwk


def generate() -> tuple[jwk.PublicKey, str]:
    """Make a key pair; return its public key, and the private one as unencrypted PEM."""
    private = ec.generate_private_key(ec.SECP256R1())
    pem = private.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    return jwk.of_public_key(private.public_key()), pem.decode("ascii")


def private_key(pem: str) -> ec.EllipticCurvePrivateKey:
    """Read a private key that `generate` made."""
    key: Any = load_pem_private_key(pem.encode("ascii"), password=None)
    assert isinstance(key, ec.EllipticCurvePrivateKey)
    return key


def published(kid: str, key: jwk.PublicKey) -> dict[str, str]:
    """Return a public key as a JWK set lists it."""
    return {**key.members, "kid": kid, "alg": key.alg, "use": "sig"}
