"""Signatures between the gateway and a remote runner: an HMAC over the time, a dot and the body."""

import hashlib
import hmac
import re

TOLERANCE_SECONDS = 300
SIGNATURE, TIMESTAMP = "X-Signature-256", "X-Timestamp"
_PREFIX = "sha256="
_SECONDS = re.compile(r"[0-9]{1,12}")


def headers(secret: str, body: bytes, now: int) -> dict[str, str]:
    """Return the headers that sign a body at a time in Unix seconds."""
    return {TIMESTAMP: str(now), SIGNATURE: _PREFIX + _digest(secret, str(now), body)}


def is_genuine(secret: str, body: bytes, *, timestamp: str, signature: str, now: int) -> bool:
    """Return whether a body was signed with the secret within the last five minutes."""
    if not secret or not _SECONDS.fullmatch(timestamp) or abs(now - int(timestamp)) > TOLERANCE_SECONDS:
        return False
    expected = _PREFIX + _digest(secret, timestamp, body)
    return hmac.compare_digest(expected.encode(), signature.encode("utf-8", "replace"))


def _digest(secret: str, timestamp: str, body: bytes) -> str:
    return hmac.new(secret.encode(), f"{timestamp}.".encode() + body, hashlib.sha256).hexdigest()
