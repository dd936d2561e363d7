"""Reads public keys as people have them: a JWK set, one JWK, or PEM. Says in words what is wrong with what is none."""

import re
from typing import Any

from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from cryptography.hazmat.primitives.serialization import load_pem_public_key

from accounts.rules import jwk
from gateway.core.contract.errors import InvalidJson
from gateway.core.json.strict import strict_loads

KEY_FILE_MAX_BYTES = 32_768
WANTED = "A key must be EC on P-256 or Ed25519."
_PEM = re.compile(r"-----BEGIN ([A-Z0-9 ]+)-----.*?-----END \1-----", re.DOTALL)


class KeyFileRefused(ValueError):
    """A file has no usable public keys. The text is for the person who gave it and never contains the file."""


def parse(text: str, kid: str = "") -> list[dict[str, Any]]:
    """Return the public JWKs of a file, with `kid` for a single one. Raises KeyFileRefused."""
    if len(text) > KEY_FILE_MAX_BYTES:
        raise KeyFileRefused(f"The file is larger than {KEY_FILE_MAX_BYTES} bytes.")
    if not text.strip():
        raise KeyFileRefused("Choose a file, or paste the keys.")
    keys = _of_pem(text) if "-----BEGIN" in text else _of_json(text)
    if kid and len(keys) > 1:
        raise KeyFileRefused("The file has several keys, so one key ID does not fit them. Leave it empty.")
    return [{**key, "kid": kid} for key in keys] if kid else keys


def merged(old: list[dict[str, Any]], new: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the keys with new ones added. Raises KeyFileRefused for one that is there, or whose `kid` is taken."""
    known = {jwk.parse(key).thumbprint: key for key in old}
    kids = {key.get("kid") for key in old}
    for key in new:
        if jwk.parse(key).thumbprint in known:
            raise KeyFileRefused("The integration has this key already. Nothing has changed.")
        if key.get("kid") in kids - {None}:
            raise KeyFileRefused(
                f"The integration has another key with the key ID {key['kid']!r}. Give this one its own."
            )
    together = [*old, *new]
    if len(together) > 1 and not all("kid" in key for key in together):
        raise KeyFileRefused(
            "Of several keys, each needs a key ID (kid), by which an assertion says which one signed it."
        )
    return together


def _of_json(text: str) -> list[dict[str, Any]]:
    try:
        found = strict_loads(text.encode("utf-8", "surrogatepass"))
    except InvalidJson:
        raise KeyFileRefused(
            "This is neither PEM nor a JSON object. Give a JWK set, one JWK, or a public key as PEM."
        ) from None
    keys = found.get("keys") if "keys" in found else [found]
    if not isinstance(keys, list) or not keys:
        raise KeyFileRefused('The set has no keys. A JWK set is {"keys": [...]} with at least one key.')
    for position, key in enumerate(keys, start=1):
        _check(key, f"Key {position} of {len(keys)}")
    kids = [key["kid"] for key in keys if "kid" in key]
    if not all(isinstance(kid, str) and kid for kid in kids):
        raise KeyFileRefused("A key ID (kid) must be text.")
    if len(set(kids)) < len(kids):
        raise KeyFileRefused("Two keys have the same key ID (kid).")
    return keys


def _check(key: Any, which: str) -> None:
    """Refuse a JWK that is no usable public key, with words for the usual mistakes."""
    if isinstance(key, dict) and not jwk.PRIVATE_MEMBERS.isdisjoint(key) and key.get("kty") != "RSA":
        raise KeyFileRefused(f"{which} is private. {_REPLACE}")
    if isinstance(key, dict) and key.get("kty") == "RSA":
        raise KeyFileRefused(f"{which} is an RSA key. {WANTED}")
    if isinstance(key, dict) and key.get("crv") not in ("P-256", "Ed25519"):
        raise KeyFileRefused(f"{which} is on the curve {str(key.get('crv'))[:40]!r}. {WANTED}")
    try:
        jwk.parse(key)
    except jwk.JwkError as error:
        raise KeyFileRefused(f"{which}: {error}.") from None


_REPLACE = (
    "Nobody but your product's server may have it: make a new pair there, and upload only its public key. "
    "Nothing was stored."
)


def _of_pem(text: str) -> list[dict[str, Any]]:
    blocks = list(_PEM.finditer(text))
    if not blocks:
        raise KeyFileRefused("The PEM block has no end.")
    return [_of_block(block[0], block[1]) for block in blocks]


def _of_block(block: str, label: str) -> dict[str, Any]:
    if "PRIVATE" in label:
        raise KeyFileRefused(f"This is a private key. {_REPLACE}")
    if label == "CERTIFICATE":
        raise KeyFileRefused(
            "This is a certificate. Give its public key: openssl x509 -pubkey -noout -in certificate.pem"
        )
    if label != "PUBLIC KEY":
        raise KeyFileRefused(f"This is PEM of another kind, {label[:40]}. A public key begins with BEGIN PUBLIC KEY.")
    try:
        key = load_pem_public_key(block.encode("ascii"))
    except (ValueError, UnsupportedAlgorithm, UnicodeEncodeError):
        raise KeyFileRefused(f"The PEM block is damaged or of an unknown kind. {WANTED}") from None
    if isinstance(key, rsa.RSAPublicKey):
        raise KeyFileRefused(f"This is an RSA key. {WANTED}")
    if isinstance(key, ec.EllipticCurvePublicKey) and not isinstance(key.curve, ec.SECP256R1):
        raise KeyFileRefused(f"This key is on the curve {key.curve.name}. {WANTED}")
    if not isinstance(key, ec.EllipticCurvePublicKey | ed25519.Ed25519PublicKey):
        raise KeyFileRefused(f"This is another kind of key. {WANTED}")
    found = dict(jwk.of_public_key(key).members)
    _check(found, "The key")
    return found
