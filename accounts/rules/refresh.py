"""Refresh credentials that contain their session and generation, sealed with an HMAC.

    drt_<session>.<generation>.<key id>.<base64url HMAC-SHA256>

One row per device session is enough, because older generations are always recognized. A credential cannot be forged
without the server's key, even with access to the database.
"""

import hashlib
import hmac
import re
from collections.abc import Sequence
from dataclasses import dataclass

from accounts.rules import jwt

PREFIX = "drt_"
CREDENTIAL_MAX_CHARACTERS = 256
_PURPOSE = b"account-gateway refresh credential v1"
_FORM = re.compile(
    r"drt_(?P<session>dev_[0-9a-z]{26})\.(?P<generation>[1-9][0-9]{0,8})\.(?P<kid>[0-9a-f]{8})\.(?P<seal>[A-Za-z0-9_-]{43})"
)


@dataclass(frozen=True, slots=True)
class Credential:
    """A credential with a valid seal."""

    session_id: str
    generation: int


def make(session_id: str, generation: int, secrets: Sequence[str]) -> str:
    """Return the credential of one generation, sealed with the newest of the server's secrets."""
    key = _key(secrets[0])
    body = f"{session_id}.{generation}.{_kid(key)}"
    return f"{PREFIX}{body}.{_seal(body, key)}"


def read(text: object, secrets: Sequence[str]) -> Credential | None:
    """Parse an untrusted credential; return None if it is malformed or its seal is invalid."""
    if not isinstance(text, str) or len(text) > CREDENTIAL_MAX_CHARACTERS:
        return None
    form = _FORM.fullmatch(text)
    if form is None:
        return None
    key = next((key for key in map(_key, secrets) if _kid(key) == form["kid"]), None)
    body = text.removeprefix(PREFIX).rpartition(".")[0]
    if key is None or not hmac.compare_digest(_seal(body, key), form["seal"]):
        return None
    return Credential(form["session"], int(form["generation"]))


def _key(secret: str) -> bytes:
    return hmac.digest(secret.encode(), _PURPOSE, "sha256")


def _kid(key: bytes) -> str:
    return hashlib.sha256(b"kid" + key).hexdigest()[:8]


def _seal(body: str, key: bytes) -> str:
    return jwt.encode(hmac.digest(key, body.encode("ascii"), "sha256"))
