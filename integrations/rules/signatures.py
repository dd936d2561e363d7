"""Signs requests between the gateway and a remote runner, with an HMAC over time, method, path and body."""

import hashlib
import hmac
import re
from collections.abc import Iterable
from dataclasses import dataclass

TOLERANCE_SECONDS = 300
SIGNATURE, TIMESTAMP = "X-Signature-256", "X-Timestamp"
_PREFIX = "sha256="
_SECONDS = re.compile(r"[0-9]{1,12}")


@dataclass(frozen=True, slots=True)
class SignedRequest:
    """What a signature covers besides the time: the method, the URL's path as it is sent, and the exact body."""

    method: str
    path: str
    body: bytes


def headers(secret: str, request: SignedRequest, now: int) -> dict[str, str]:
    """Return the headers that sign a request at a time in Unix seconds."""
    return {TIMESTAMP: str(now), SIGNATURE: _signature(secret, str(now), request)}


def is_genuine(secrets: Iterable[str], request: SignedRequest, *, timestamp: str, signature: str, now: int) -> bool:
    """Return whether a request was signed with one of the secrets within the last five minutes. Empty secrets never
    match.
    """
    if not _SECONDS.fullmatch(timestamp) or abs(now - int(timestamp)) > TOLERANCE_SECONDS:
        return False
    given = signature.encode("utf-8", "replace")
    expected = [_signature(secret, timestamp, request).encode() for secret in secrets if secret]
    return any(hmac.compare_digest(each, given) for each in expected)


def _signature(secret: str, timestamp: str, request: SignedRequest) -> str:
    signed = f"{timestamp}.{request.method}.{request.path}.".encode() + request.body
    return _PREFIX + hmac.new(secret.encode(), signed, hashlib.sha256).hexdigest()
