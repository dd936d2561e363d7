"""Verifies the signed receipts of paid calls. It needs no token: only the receipt and the gateway's published keys."""

import base64
import json
import re
from collections.abc import Mapping
from typing import Any

import requests
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import encode_dss_signature
from cryptography.hazmat.primitives.hashes import SHA256

from account_gateway_client.answers import json_of, reaching
from account_gateway_client.errors import InvalidReceipt

KEYS_PATH = "/.well-known/receipt-keys.json"
TYPE = "receipt+jwt"
COORDINATE_BYTES = 32
PICO_PER_MICRO = 10**6
_BASE64URL = re.compile(r"[A-Za-z0-9_-]+")
_DECIMAL = re.compile(r"(-?)([0-9]{1,30})(?:\.([0-9]{1,6}))?", re.ASCII)


def fetch_receipt_keys(base_url: str, *, timeout_seconds: float = 10.0) -> dict[str, Any]:
    """Return the JWK set that a gateway publishes for its receipts. Keep it to verify offline. May raise GatewayError and
    GatewayUnreachable."""
    with reaching(base_url):
        return json_of(requests.get(base_url.rstrip("/") + KEYS_PATH, timeout=timeout_seconds))


def verify_receipt(receipt: str, keys: Mapping[str, Any], *, issuer: str) -> dict[str, Any]:
    """Return the claims of a receipt that the issuer signed with one of these keys (a JWK set), or raise InvalidReceipt.

    Checked are the type, the algorithm (ES256), the key's id, the signature, the issuer, and the arithmetic: each quantity
    at its unit price is its amount, the exact sum of the amounts rounded up is `charge_microusd`, and that is at most
    `hold_microusd`.
    """
    segments = receipt.split(".")
    if len(segments) != 3:
        raise InvalidReceipt("it is not a compact JWS")
    header, claims = (_json(segment) for segment in segments[:2])
    _check_header(header)
    _verify(_key_of(header.get("kid"), keys), f"{segments[0]}.{segments[1]}".encode("ascii"), _decoded(segments[2]))
    if claims.get("iss") != issuer.rstrip("/"):
        raise InvalidReceipt(f"it was issued by {claims.get('iss')}, not by {issuer}")
    _check_amounts(claims)
    return claims


def _check_header(header: Mapping[str, Any]) -> None:
    if header.get("typ") != TYPE:
        raise InvalidReceipt(f"its type is not {TYPE}")
    if header.get("alg") != "ES256" or "crit" in header:
        raise InvalidReceipt("it is not signed with ES256")


def _key_of(kid: Any, keys: Mapping[str, Any]) -> ec.EllipticCurvePublicKey:
    listed = keys.get("keys") if isinstance(keys, Mapping) else None
    for key in listed if isinstance(listed, list) else []:
        if isinstance(kid, str) and isinstance(key, Mapping) and key.get("kid") == kid:
            return _public_key(key)
    raise InvalidReceipt(f"the key {kid!r} is not among the keys")


def _public_key(jwk: Mapping[str, Any]) -> ec.EllipticCurvePublicKey:
    if (jwk.get("kty"), jwk.get("crv"), jwk.get("alg", "ES256")) != ("EC", "P-256", "ES256"):
        raise InvalidReceipt("its key is not one for ES256")
    x, y = (_decoded(str(jwk.get(name))) for name in ("x", "y"))
    try:
        return ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), b"\x04" + x + y)
    except ValueError:
        raise InvalidReceipt("its key is not a point on P-256") from None


def _verify(key: ec.EllipticCurvePublicKey, signed: bytes, signature: bytes) -> None:
    """RFC 7518 section 3.4: the signature is r and s, 32 bytes each."""
    if len(signature) != 2 * COORDINATE_BYTES:
        raise InvalidReceipt("its signature has the wrong length")
    r, s = (int.from_bytes(half, "big") for half in (signature[:COORDINATE_BYTES], signature[COORDINATE_BYTES:]))
    try:
        key.verify(encode_dss_signature(r, s), signed, ec.ECDSA(SHA256()))
    except InvalidSignature:
        raise InvalidReceipt("its signature does not verify") from None


def _check_amounts(claims: Mapping[str, Any]) -> None:
    charge, hold, components = (claims.get(name) for name in ("charge_microusd", "hold_microusd", "components"))
    if type(charge) is not int or type(hold) is not int or not isinstance(components, list):
        raise InvalidReceipt("it lacks an amount")
    total = sum(_amount_of(component) for component in components)
    if -(-total // PICO_PER_MICRO) != charge:
        raise InvalidReceipt(f"its components do not come to the charge of {charge} micro-USD")
    if not 0 <= charge <= hold:
        raise InvalidReceipt(f"its charge of {charge} micro-USD is not within the hold of {hold}")


def _amount_of(component: Any) -> int:
    """Return a component's amount in millionths of a micro-USD, if it is what the quantity costs at the unit price."""
    if not isinstance(component, Mapping):
        raise InvalidReceipt("a component is not an object")
    amount, quantity = _pico(component.get("amountMicrousd")), component.get("quantity")
    if component.get("unitPriceMicrousd") is not None:
        price = _pico(component["unitPriceMicrousd"])
        if type(quantity) is not int or quantity * price != amount:
            name = component.get("component")
            raise InvalidReceipt(f"the amount of {name} is not its quantity at its unit price")
    return amount


def _pico(text: Any) -> int:
    found = _DECIMAL.fullmatch(text) if isinstance(text, str) else None
    if found is None:
        raise InvalidReceipt(f"{text!r} is not an exact amount")
    sign, whole, decimals = found.groups(default="")
    value = int(whole) * PICO_PER_MICRO + int(decimals.ljust(6, "0"))
    return -value if sign else value


def _json(segment: str) -> dict[str, Any]:
    try:
        value = json.loads(_decoded(segment))
    except (ValueError, RecursionError):  # the latter of a deeply nested array
        value = None
    if not isinstance(value, dict):
        raise InvalidReceipt("it is not made of JSON objects")
    return value


def _decoded(segment: str) -> bytes:
    """Decode base64url without padding. RFC 7515 section 2."""
    if not _BASE64URL.fullmatch(segment) or len(segment) % 4 == 1:
        raise InvalidReceipt("it is not base64url")
    return base64.urlsafe_b64decode(segment + "=" * (-len(segment) % 4))
