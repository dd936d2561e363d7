"""The secrets of endpoints, and what they sign (Standard Webhooks, "Signature scheme")."""

import base64
import hashlib
import hmac
import os
from collections.abc import Iterable

PREFIX = "whsec_"
KEY_MIN_BYTES, KEY_MAX_BYTES = 24, 64
SECRET_WORDS = f"must be {PREFIX} and the base64 of {KEY_MIN_BYTES} to {KEY_MAX_BYTES} bytes"


def new_secret() -> str:
    """Make a secret that cannot be guessed."""
    return PREFIX + base64.b64encode(os.urandom(32)).decode()


def key_of(secret: str) -> bytes:
    """Return the key in a secret. Raises ValueError if it is not one."""
    if not secret.startswith(PREFIX):
        raise ValueError(SECRET_WORDS)
    try:
        key = base64.b64decode(secret.removeprefix(PREFIX), validate=True)
    except ValueError:
        raise ValueError(SECRET_WORDS) from None
    if not KEY_MIN_BYTES <= len(key) <= KEY_MAX_BYTES:
        raise ValueError(SECRET_WORDS)
    return key


def signature(secrets: Iterable[str], message_id: str, timestamp: int, body: bytes) -> str:
    """Sign a message with each secret; return the value of the header `webhook-signature`."""
    signed = f"{message_id}.{timestamp}.".encode() + body
    digests = (hmac.digest(key_of(secret), signed, hashlib.sha256) for secret in secrets)
    return " ".join(f"v1,{base64.b64encode(digest).decode()}" for digest in digests)
