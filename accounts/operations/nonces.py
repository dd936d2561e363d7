"""Server nonces for DPoP proofs, if the operator requires them. RFC 9449 sections 8 and 9.

A nonce is an HMAC over a time window, so that every process and machine with the same secret can check it and nothing
is stored. It is valid in its own window and the next.
"""

import hashlib
import hmac
from collections.abc import Callable

from django.conf import settings

from accounts.rules.jwt import encode
from gateway.core.api.challenges import challenged
from gateway.core.contract.errors import UseDpopNonce
from gateway.core.contract.headers import DPOP_NONCE

WINDOW_SECONDS = 120
NONCE_BYTES = 18


def current(now: float) -> str:
    """Return the nonce for the window that contains Unix time `now`."""
    return _nonce(int(now) // WINDOW_SECONDS)


def checker(now: float) -> Callable[[object], None] | None:
    """Return the function that checks a proof's `nonce`, or None if nonces are off (`DPOP_NONCES`)."""
    if not settings.DPOP_NONCES:
        return None
    return lambda nonce: check(nonce, now)


def check(nonce: object, now: float) -> None:
    """Raise UseDpopNonce, which carries a valid nonce, unless the nonce is of this window or the one before."""
    window = int(now) // WINDOW_SECONDS
    accepted = (_nonce(window), _nonce(window - 1))
    sent = nonce.encode() if isinstance(nonce, str) else b""
    if not any(hmac.compare_digest(sent, good.encode()) for good in accepted):
        raise challenged(UseDpopNonce(headers={DPOP_NONCE: accepted[0]}))


def _nonce(window: int) -> str:
    message = f"dpop-nonce:{window}".encode()
    return encode(hmac.digest(settings.SECRET_KEY.encode(), message, hashlib.sha256)[:NONCE_BYTES])
