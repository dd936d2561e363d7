"""Validators for fields that operators edit."""

from typing import Any

from django.core.exceptions import ValidationError

from accounts.rules import dids, jwk, scopes
from gateway.core.contract.capabilities import INFER_PREFIX, Capability

JWKS_KEYS_MAX = 32


def validate_did(value: str) -> None:
    """Refuse text that is not a DID (W3C DID Core section 3.1)."""
    if not dids.is_did(value):
        raise ValidationError("This is not a DID.")


def validate_did_prefix(value: str) -> None:
    """Refuse a prefix that does not name at least a DID method."""
    if not dids.is_prefix(value):
        raise ValidationError("This is not a DID prefix. A prefix ends with a colon, as in did:web:studio.example:.")


def validate_capabilities(value: list[str]) -> None:
    """Refuse names other than capabilities, `infer:<alias>` and `infer:*`."""
    for name in value:
        known = name in set(Capability) or (name.startswith(INFER_PREFIX) and len(name) > len(INFER_PREFIX))
        if not (known and scopes.is_scope(name)):
            raise ValidationError(f"{name!r} is not a capability.")


def validate_jwks(value: Any) -> None:
    """Refuse a key set that is empty, has a key that cannot verify assertions, or repeats a `kid`."""
    keys = value.get("keys") if isinstance(value, dict) else None
    if not isinstance(keys, list) or not 1 <= len(keys) <= JWKS_KEYS_MAX:
        raise ValidationError('A key set must be {"keys": [...]} with at least one key.')
    for position, key in enumerate(keys):
        try:
            jwk.parse(key)
        except jwk.JwkError as error:
            raise ValidationError(f"keys[{position}]: {error}") from None
    _check_key_ids(keys)


def _check_key_ids(keys: list[dict[str, Any]]) -> None:
    ids = [key["kid"] for key in keys if "kid" in key]
    if not all(isinstance(kid, str) for kid in ids) or len(set(ids)) != len(ids):
        raise ValidationError("Every kid must be text and unique.")
    if len(keys) > 1 and len(ids) < len(keys):
        raise ValidationError("If there are several keys, each needs a kid.")
