"""Signatures between the gateway and a remote runner: an HMAC over the time, the method, the path and the body.

The path names the run, so that what was said of one run cannot be said again of another.
"""

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
class Message:
    """What is signed of a request. `path` is that of its URL, as it was requested, without the query."""

    method: str
    path: str
    body: bytes


def headers(secret: str, message: Message, now: int) -> dict[str, str]:
    """Return the headers that sign a message at a time in Unix seconds."""
    return {TIMESTAMP: str(now), SIGNATURE: _signature(secret, str(now), message)}


def is_genuine(secrets: Iterable[str], message: Message, *, timestamp: str, signature: str, now: int) -> bool:
    """Return whether a message was signed with one of the secrets within the last five minutes. An empty secret signs
    nothing."""
    if not _SECONDS.fullmatch(timestamp) or abs(now - int(timestamp)) > TOLERANCE_SECONDS:
        return False
    given = signature.encode("utf-8", "replace")
    expected = [_signature(secret, timestamp, message).encode() for secret in secrets if secret]
    return any(hmac.compare_digest(each, given) for each in expected)


def _signature(secret: str, timestamp: str, message: Message) -> str:
    signed = f"{timestamp}\n{message.method}\n{message.path}\n".encode() + message.body
    return _PREFIX + hmac.new(secret.encode(), signed, hashlib.sha256).hexdigest()
