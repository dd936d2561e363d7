"""Signs messages between the gateway and a remote runner, with an HMAC over the time and the body."""

import hashlib
import hmac
import re
from collections.abc import Iterable

TOLERANCE_SECONDS = 300
SIGNATURE, TIMESTAMP = "X-Signature-256", "X-Timestamp"
_PREFIX = "sha256="
_SECONDS = re.compile(r"[0-9]{1,12}")


def headers(secret: str, body: bytes, now: int) -> dict[str, str]:
    """Return the headers that sign a body at a time in Unix seconds."""
    return {TIMESTAMP: str(now), SIGNATURE: _signature(secret, str(now), body)}


def is_genuine(secrets: Iterable[str], body: bytes, *, timestamp: str, signature: str, now: int) -> bool:
    """Return whether a body was signed with one of the secrets within the last five minutes. Empty secrets never
    match.
    """
    if not _SECONDS.fullmatch(timestamp) or abs(now - int(timestamp)) > TOLERANCE_SECONDS:
        return False
    given = signature.encode("utf-8", "replace")
    expected = [_signature(secret, timestamp, body).encode() for secret in secrets if secret]
    return any(hmac.compare_digest(each, given) for each in expected)


def _signature(secret: str, timestamp: str, body: bytes) -> str:
    return _PREFIX + hmac.new(secret.encode(), f"{timestamp}.".encode() + body, hashlib.sha256).hexdigest()
