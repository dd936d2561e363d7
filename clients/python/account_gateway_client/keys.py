"""ES256 key pairs: one kind proves possession of tokens, the other speaks for a product."""

import base64
import hashlib
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature

if TYPE_CHECKING:
    from typing_extensions import Self  # typing has it from Python 3.11 on

COORDINATE_BYTES = 32
_ES256 = ec.ECDSA(hashes.SHA256())


class ES256Key:
    """A P-256 key pair. Its private half is only ever used here."""

    def __init__(self, private_key: ec.EllipticCurvePrivateKey) -> None:
        if not isinstance(private_key.curve, ec.SECP256R1):
            raise ValueError("ES256 needs a P-256 key.")
        self._private_key = private_key
        numbers = private_key.public_key().public_numbers()
        self.jwk: dict[str, str] = {
            "kty": "EC",
            "crv": "P-256",
            "x": base64url(numbers.x.to_bytes(COORDINATE_BYTES, "big")),
            "y": base64url(numbers.y.to_bytes(COORDINATE_BYTES, "big")),
        }
        self.thumbprint = base64url(hashlib.sha256(compact_json(dict(sorted(self.jwk.items())))).digest())

    @classmethod
    def generate(cls) -> "Self":
        """Make a new key."""
        return cls(ec.generate_private_key(ec.SECP256R1()))

    @classmethod
    def from_pem(cls, pem: bytes, password: bytes | None = None) -> "Self":
        """Read a private key from PEM, or raise ValueError."""
        key = serialization.load_pem_private_key(pem, password)
        if not isinstance(key, ec.EllipticCurvePrivateKey):
            raise ValueError("ES256 needs a P-256 key.")
        return cls(key)

    @classmethod
    def load(cls, path: str | os.PathLike[str], password: bytes | None = None) -> "Self":
        """Read a private key from a PEM file. Raises OSError, or ValueError where the file has none or needs another password."""
        pem = Path(path).read_bytes()
        try:
            return cls.from_pem(pem, password)
        except (ValueError, TypeError) as error:
            raise ValueError(f"{os.fspath(path)} has no key that can be read: {error}") from error

    def to_pem(self, password: bytes | None = None) -> bytes:
        """Return the private key as PKCS#8 PEM, encrypted where a password is given."""
        protection: serialization.KeySerializationEncryption = serialization.NoEncryption()
        if password:
            protection = serialization.BestAvailableEncryption(password)
        return self._private_key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, protection
        )

    def save(self, path: str | os.PathLike[str], password: bytes | None = None) -> None:
        """Write the private key to a new file that only its owner may read. Never overwrites."""
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            file.write(self.to_pem(password))

    def sign_jwt(self, header: Mapping[str, Any], claims: Mapping[str, Any]) -> str:
        """Return a compact JWS over the claims. RFC 7518 section 3.4: the signature is r and s, 32 bytes each."""
        signed = f"{base64url(compact_json({**header, 'alg': 'ES256'}))}.{base64url(compact_json(claims))}"
        r, s = decode_dss_signature(self._private_key.sign(signed.encode("ascii"), _ES256))
        signature = r.to_bytes(COORDINATE_BYTES, "big") + s.to_bytes(COORDINATE_BYTES, "big")
        return f"{signed}.{base64url(signature)}"


class ProofKey(ES256Key):
    """The key that tokens are bound to; it signs one DPoP proof per request."""


class ProductKey(ES256Key):
    """The key that a product signs its assertions with."""

    @property
    def kid(self) -> str:
        """Return the key's id: its thumbprint (RFC 7638)."""
        return self.thumbprint

    def public_jwks(self) -> dict[str, Any]:
        """Return the key set that the gateway's operator configures for the product's integration."""
        return {"keys": [{**self.jwk, "kid": self.kid, "use": "sig", "alg": "ES256"}]}


def base64url(data: bytes) -> str:
    """Encode without padding. RFC 7515 section 2."""
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode("ascii")


def compact_json(value: Mapping[str, Any]) -> bytes:
    """Render JSON without white space."""
    return json.dumps(value, separators=(",", ":"), ensure_ascii=True).encode("ascii")
