"""DPoP proofs (RFC 9449), signed in advance before a lane starts."""

import base64
import hashlib
import itertools
import os
import time
from collections.abc import Mapping
from typing import Any

import orjson
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature

COORDINATE_BYTES = 32
_SHA256 = ec.ECDSA(hashes.SHA256())


def encode(raw: bytes) -> bytes:
    """Encode as base64url without padding."""
    return base64.urlsafe_b64encode(raw).rstrip(b"=")


class SigningKey:
    """A P-256 key that signs compact JWTs with ES256."""

    def __init__(self) -> None:
        self._private = ec.generate_private_key(ec.SECP256R1())
        numbers = self._private.public_key().public_numbers()
        self.jwk = {
            "kty": "EC",
            "crv": "P-256",
            "x": encode(numbers.x.to_bytes(COORDINATE_BYTES, "big")).decode(),
            "y": encode(numbers.y.to_bytes(COORDINATE_BYTES, "big")).decode(),
        }

    def sign(self, header: Mapping[str, Any], claims: Mapping[str, Any]) -> bytes:
        """Sign one JWT."""
        return self._sign(encode(orjson.dumps(header)), claims)

    def sign_proofs(self, *, method: str, url: str, token: str, count: int) -> list[bytes]:
        """Sign `count` new proofs for one URL and token; servers accept them for about a minute."""
        header = encode(orjson.dumps({"typ": "dpop+jwt", "alg": "ES256", "jwk": self.jwk}))
        fixed = {
            "htm": method,
            "htu": url,
            "iat": int(time.time()),
            "ath": encode(hashlib.sha256(token.encode()).digest()).decode(),
        }
        batch = os.urandom(12).hex()
        return [self._sign(header, {**fixed, "jti": f"{batch}-{index}"}) for index in range(count)]

    def _sign(self, header: bytes, claims: Mapping[str, Any]) -> bytes:
        signed = b"%s.%s" % (header, encode(orjson.dumps(claims)))
        r, s = decode_dss_signature(self._private.sign(signed, _SHA256))
        raw = r.to_bytes(COORDINATE_BYTES, "big") + s.to_bytes(COORDINATE_BYTES, "big")
        return b"%s.%s" % (signed, encode(raw))


_keys = itertools.count(1)


def fresh_key(prefix: str) -> str:
    """Create an idempotency key that is unique in this run."""
    return f"{prefix}-{os.getpid()}-{time.time_ns()}-{next(_keys)}"
