"""The account's key, which comes encrypted to a key that is made for this one answer. RFC 7516, RFC 7518 section 4.6."""

import base64
import json
import struct
from dataclasses import dataclass, field

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.kdf.concatkdf import ConcatKDFHash
from cryptography.hazmat.primitives.keywrap import aes_key_unwrap

from account_gateway_client.keys import COORDINATE_BYTES, base64url

PATH = "/v1/sync/account-key"
ALGORITHM, ENCRYPTION = "ECDH-ES+A256KW", "A256GCM"
KEY_BYTES = 32


@dataclass(frozen=True, slots=True)
class AccountKey:
    """The 32 bytes that an account's devices share; `kid` names them."""

    kid: str
    key: bytes = field(repr=False)


class Recipient:
    """A key pair on P-256 that a JWE is encrypted to. Its private half is used here alone, and once."""

    def __init__(self) -> None:
        self._private_key = ec.generate_private_key(ec.SECP256R1())
        numbers = self._private_key.public_key().public_numbers()
        x, y = (base64url(number.to_bytes(COORDINATE_BYTES, "big")) for number in (numbers.x, numbers.y))
        self.jwk = {"kty": "EC", "crv": "P-256", "x": x, "y": y}

    def open(self, jwe: str) -> bytes:
        """Return the plaintext of a compact JWE. Raises ValueError for other algorithms than the gateway's."""
        header, *parts = jwe.split(".")
        encrypted_key, iv, ciphertext, tag = map(_decoded, parts)
        protected = json.loads(_decoded(header))
        if (protected.get("alg"), protected.get("enc")) != (ALGORITHM, ENCRYPTION):
            raise ValueError(f"The account key is encrypted with {protected.get('alg')} and {protected.get('enc')}.")
        content_key = aes_key_unwrap(self._wrapping_key(protected["epk"]), encrypted_key)
        return AESGCM(content_key).decrypt(iv, ciphertext + tag, header.encode("ascii"))

    def _wrapping_key(self, epk: dict[str, str]) -> bytes:
        """Agree on a key. RFC 7518 section 4.6.2."""
        x, y = (int.from_bytes(_decoded(epk[name]), "big") for name in ("x", "y"))
        theirs = ec.EllipticCurvePublicNumbers(x, y, ec.SECP256R1()).public_key()
        agreed = self._private_key.exchange(ec.ECDH(), theirs)
        name = ALGORITHM.encode("ascii")
        other = struct.pack(">I", len(name)) + name + struct.pack(">III", 0, 0, KEY_BYTES * 8)
        return ConcatKDFHash(hashes.SHA256(), KEY_BYTES, other).derive(agreed)


def _decoded(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
