"""Parses, verifies and signs compact JWS. Malformed input is refused before anything in it is trusted.

RFC 7515 (JWS), RFC 7519 (JWT), RFC 8725 (best practices). Size and alphabet are checked before parsing, and the
signature last. `verify` uses `cryptography` directly, because it runs for every metered call; the tests compare it with
PyJWT, which verifies everything else.
"""

import base64
import re
from binascii import a2b_base64
from collections.abc import Mapping
from functools import lru_cache
from types import MappingProxyType
from typing import Any, cast

import orjson
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric import ec, ed25519
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature, encode_dss_signature
from cryptography.hazmat.primitives.hashes import SHA256

from accounts.rules.jwk import PublicKey
from gateway.core.contract.errors import InvalidJson
from gateway.core.contract.values import value_class
from gateway.core.json.strict import strict_loads

JWS_MAX_BYTES = 8192
SHORT_HEADER_CHARACTERS = 512  # a proof's, with its key, has about 300
REMEMBERED_HEADERS_MAX = 1024
SIGNATURE_BYTES = 64  # ES256: r and s, 32 bytes each; EdDSA: R and S
ALGORITHMS = ("ES256", "EdDSA")

# RFC 9864 gives EdDSA over Ed25519 its own name; newer client libraries send it.
_ALG_NAMES = {"ES256": "ES256", "EdDSA": "EdDSA", "Ed25519": "EdDSA"}
_ECDSA = ec.ECDSA(SHA256())
_COMPACT = re.compile(r"([A-Za-z0-9_-]+)\.([A-Za-z0-9_-]+)\.([A-Za-z0-9_-]+)")
# The last character of a segment whose length is 2 or 3 modulo 4 may carry no stray bits.
_PLAIN_ALPHABET = bytes.maketrans(b"-_", b"+/")  # RFC 4648 sections 4 and 5
_CANONICAL_LAST = {0: None, 2: frozenset("AQgw"), 3: frozenset("AEIMQUYcgkosw048")}


class JwtError(ValueError):
    """A token is refused. The text is the reason for the log and never contains the token."""


@value_class(frozen=True, slots=True)
class Jws:
    """A parsed token whose signature is not verified yet. `alg` is `ES256` or `EdDSA`."""

    alg: str
    header: Mapping[str, Any]
    claims: dict[str, Any]
    signing_input: bytes
    signature: bytes

    def compact(self) -> str:
        """Return the token that was parsed. It has only one spelling."""
        return f"{self.signing_input.decode('ascii')}.{encode(self.signature)}"


def parse(token: str, max_bytes: int = JWS_MAX_BYTES) -> Jws:
    """Parse a compact JWS, or raise JwtError. The result must not be trusted before `verify`."""
    if len(token) > max_bytes:
        raise JwtError("too long")
    segments = _COMPACT.fullmatch(token)
    if segments is None:
        raise JwtError("not three base64url segments")
    encoded_header, encoded_claims, encoded_signature = segments.groups()
    alg, header = (
        _short_header(encoded_header) if len(encoded_header) <= SHORT_HEADER_CHARACTERS else _header(encoded_header)
    )
    signature = decode(encoded_signature)
    if len(signature) != SIGNATURE_BYTES:
        raise JwtError("the signature has the wrong length")
    signing_input = token[: segments.end(2)].encode("ascii")
    return Jws(alg, header, _json(encoded_claims, "claims"), signing_input, signature)


def verify(jws: Jws, key: PublicKey) -> None:
    """Verify the signature with a key of exactly the header's algorithm, or raise JwtError."""
    if jws.alg != key.alg:
        raise JwtError("the key does not match the header's algorithm")
    try:
        # Compared by name, because isinstance with an abstract class takes a microsecond.
        if key.alg == "ES256":
            cast("ec.EllipticCurvePublicKey", key.key).verify(_der(jws.signature), jws.signing_input, _ECDSA)
        else:
            cast("ed25519.Ed25519PublicKey", key.key).verify(jws.signature, jws.signing_input)
    except InvalidSignature:
        raise JwtError("the signature does not verify") from None


def sign(
    header: Mapping[str, Any],
    claims: Mapping[str, Any],
    key: ec.EllipticCurvePrivateKey | ed25519.Ed25519PrivateKey,
) -> str:
    """Sign a compact JWS with the key's algorithm."""
    is_ec = isinstance(key, ec.EllipticCurvePrivateKey)
    full_header = {"alg": "ES256" if is_ec else "EdDSA", **header}
    signing_input = f"{encode(orjson.dumps(full_header))}.{encode(orjson.dumps(claims))}"
    if isinstance(key, ec.EllipticCurvePrivateKey):
        r, s = decode_dss_signature(key.sign(signing_input.encode(), _ECDSA))
        signature = r.to_bytes(32, "big") + s.to_bytes(32, "big")
    else:
        signature = key.sign(signing_input.encode())
    return f"{signing_input}.{encode(signature)}"


def encode(data: bytes) -> str:
    """Encode as base64url without padding (RFC 7515 appendix C)."""
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode("ascii")


def decode(segment: str) -> bytes:
    """Decode one base64url segment, or raise JwtError if it is not canonical."""
    last = _CANONICAL_LAST.get(len(segment) % 4, frozenset())
    if last is not None and segment[-1] not in last:
        raise JwtError("not canonical base64url")
    return a2b_base64(segment.encode("ascii").translate(_PLAIN_ALPHABET) + b"=" * (-len(segment) % 4))


def _header(segment: str) -> tuple[str, Mapping[str, Any]]:
    """Parse and check a header; return it with its algorithm."""
    header = _json(segment, "header")
    return _algorithm(header), MappingProxyType(header)


# All proofs of a client have the same header. Anyone can send others, so the cache is limited to a few MiB.
_short_header = lru_cache(maxsize=REMEMBERED_HEADERS_MAX)(_header)


def _json(segment: str, name: str) -> dict[str, Any]:
    try:
        return strict_loads(decode(segment), long_integers=False)
    except InvalidJson as error:
        raise JwtError(f"{name} is not a strict JSON object") from error


def _algorithm(header: Mapping[str, Any]) -> str:
    """Return the header's algorithm; refuse `none`, every HMAC and every critical extension."""
    if "crit" in header or "b64" in header:
        raise JwtError("critical header extensions are not supported")
    alg = header.get("alg")
    name = _ALG_NAMES.get(alg) if isinstance(alg, str) else None
    if name is None:
        raise JwtError("alg is not supported")
    return name


def _der(signature: bytes) -> bytes:
    r = int.from_bytes(signature[:32], "big")
    s = int.from_bytes(signature[32:], "big")
    return encode_dss_signature(r, s)
