"""Reads public JSON Web Keys strictly. RFC 7517, RFC 7518 section 6.2, RFC 8037, RFC 7638.

Two kinds are supported: EC on P-256 (ES256) and OKP on Ed25519 (EdDSA). A key has exactly one valid form: its
coordinates are canonical and on the curve, and not of small order, where one signature would fit every message.
"""

import base64
import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from cryptography.hazmat.primitives.asymmetric import ec, ed25519

# Private members of every key type (RFC 7518 sections 6.2.2, 6.3.2, 6.4.1; RFC 8037), RSA's included.
PRIVATE_MEMBERS = frozenset({"d", "p", "q", "dp", "dq", "qi", "oth", "k", "r", "t", "priv"})
CACHED_KEYS_MAX_BYTES = 40 * 1024 * 1024
KEY_BYTES = 2048  # the most memory that a key takes: its members have a fixed length
CACHED_KEYS_MAX = CACHED_KEYS_MAX_BYTES // (2 * KEY_BYTES)  # of each of the two kinds

ALG_NAMES = {"ES256": ("ES256",), "EdDSA": ("EdDSA", "Ed25519")}
"""What an algorithm may be called in a header or a key (RFC 9864 section 2.2)."""
_COORDINATE = re.compile(r"[A-Za-z0-9_-]{42}[AEIMQUYcgkosw048]")  # 32 bytes, no padding, no stray bits

_ED_P = 2**255 - 19
_ED_D = -121665 * pow(121666, -1, _ED_P) % _ED_P
_ED_ORDER_8_Y = 2707385501144840649318225287225658788936804267575313519463743609750303402022
# y of the points of order 1, 2, 4 and 8. RFC 7748 section 6 and RFC 8032 leave it to applications to refuse them.
_ED_SMALL_ORDER_Y = frozenset({0, 1, _ED_P - 1, _ED_ORDER_8_Y, _ED_P - _ED_ORDER_8_Y})


class JwkError(ValueError):
    """A key is refused. The text is the reason."""


@dataclass(frozen=True, slots=True)
class PublicKey:
    """A checked public key: its algorithm (`ES256` or `EdDSA`), its RFC 7638 thumbprint and its required members."""

    alg: str
    thumbprint: str
    members: Mapping[str, str]
    key: ec.EllipticCurvePublicKey | ed25519.Ed25519PublicKey


def parse(jwk: object) -> PublicKey:
    """Read an untrusted public JWK, or raise JwkError. Members without effect on its use (`kid`, `ext`, …) are
    ignored.
    """
    if not isinstance(jwk, dict):
        raise JwkError("not an object")
    if not PRIVATE_MEMBERS.isdisjoint(jwk):
        raise JwkError("carries private key material")
    match jwk.get("kty"), jwk.get("crv"):
        case "EC", "P-256":
            key = _ec_key(coordinate(jwk, "x"), coordinate(jwk, "y"))
        case "OKP", "Ed25519":
            key = _ed25519_key(coordinate(jwk, "x"))
        case _:
            raise JwkError("neither an EC key on P-256 nor an OKP key on Ed25519")
    _check_purpose(jwk, key.alg)
    return key


def thumbprint(members: Mapping[str, str]) -> str:
    """Compute the RFC 7638 thumbprint of a key's required members: base64url SHA-256 of their canonical JSON."""
    canonical = "{" + ",".join(f'"{name}":"{members[name]}"' for name in sorted(members)) + "}"
    digest = hashlib.sha256(canonical.encode("ascii")).digest()
    return base64.urlsafe_b64encode(digest).rstrip(b"=").decode("ascii")


def of_public_key(key: ec.EllipticCurvePublicKey | ed25519.Ed25519PublicKey) -> PublicKey:
    """Return the JWK of a trusted key."""
    if isinstance(key, ec.EllipticCurvePublicKey):
        numbers = key.public_numbers()
        return _ec_key(_encode(numbers.x.to_bytes(32, "big")), _encode(numbers.y.to_bytes(32, "big")))
    return _ed25519_key(_encode(key.public_bytes_raw()))


def coordinate(jwk: dict[str, Any], name: str) -> str:
    """Return a canonical coordinate of 32 bytes, or raise JwkError."""
    value = jwk.get(name)
    if not isinstance(value, str) or not _COORDINATE.fullmatch(value):
        raise JwkError(f"{name} is not a canonical 32-byte coordinate")
    return value


def _check_purpose(jwk: dict[str, Any], alg: str) -> None:
    """Refuse a key that declares a different purpose (RFC 7517 sections 4.2 to 4.4)."""
    if "use" in jwk and jwk["use"] != "sig":
        raise JwkError("use is not sig")
    if "alg" in jwk and jwk["alg"] not in ALG_NAMES[alg]:
        raise JwkError("alg does not match the key")
    if "key_ops" in jwk:
        _check_operations(jwk["key_ops"])


def _check_operations(operations: object) -> None:
    if not isinstance(operations, list) or not all(isinstance(operation, str) for operation in operations):
        raise JwkError("key_ops is not an array of strings")
    if "verify" not in operations or len(set(operations)) != len(operations):
        raise JwkError("key_ops lacks verify or repeats itself")


@lru_cache(maxsize=CACHED_KEYS_MAX)
def _ec_key(x: str, y: str) -> PublicKey:
    point = b"\x04" + decode(x) + decode(y)
    try:
        key = ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), point)
    except ValueError:
        raise JwkError("not a point on P-256") from None
    members = {"crv": "P-256", "kty": "EC", "x": x, "y": y}
    return PublicKey("ES256", thumbprint(members), members, key)


@lru_cache(maxsize=CACHED_KEYS_MAX)
def _ed25519_key(x: str) -> PublicKey:
    raw = decode(x)
    _check_edwards_point(raw)
    members = {"crv": "Ed25519", "kty": "OKP", "x": x}
    return PublicKey("EdDSA", thumbprint(members), members, ed25519.Ed25519PublicKey.from_public_bytes(raw))


def _check_edwards_point(raw: bytes) -> None:
    """Refuse coordinates that do not decode (RFC 8032 section 5.1.3) and points of small order."""
    y = int.from_bytes(raw, "little") & ((1 << 255) - 1)
    if y >= _ED_P or y in _ED_SMALL_ORDER_Y:
        raise JwkError("not a usable Ed25519 point")
    # x² = (y² - 1) / (d y² + 1) is a square exactly if the product of numerator and denominator is one.
    if pow((y * y - 1) * (_ED_D * y * y + 1), (_ED_P - 1) // 2, _ED_P) != 1:
        raise JwkError("not a point on Ed25519")


def decode(coordinate: str) -> bytes:
    """Return the 32 bytes of a canonical coordinate."""
    return base64.urlsafe_b64decode(coordinate + "=")


def _encode(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode("ascii")
