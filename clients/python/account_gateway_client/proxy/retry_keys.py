"""One idempotency key for all attempts of one call.

An SDK counts the attempts of a call (`x-stainless-retry-count`) and sends no key. An attempt after the first is recognized
by its bytes: it is sent to the same path with the same body. Two calls may be equal to the byte; then it does not matter
which of their keys a retry gets, as long as it gets one that no other retry has. A retry that is not recognized began before
the proxy did, or was never sent on, and gets a key of its own: nothing was paid for it here.
"""

import hashlib
import time
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import IntEnum

from account_gateway_client.calls import ATTEMPT

REMEMBERED_SECONDS = 3600.0
REMEMBERED_KEYS = 10_000
_BOUNDARY = "boundary="


class _State(IntEnum):
    """What became of a call's last attempt, in the order in which a retry is looked for."""

    DELIVERED = 0
    OPEN = 1
    FAILED = 2


@dataclass(slots=True)
class _Sent:
    fingerprint: bytes
    attempt: int
    state: _State
    until: float


class RetryKeys:
    """The keys of the calls of the last hour."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._sent: dict[str, _Sent] = {}

    def first(self) -> str:
        """Make the key of a new call."""
        return str(uuid.uuid4())

    def again(self, fingerprint: bytes, attempt: int) -> str:
        """Return the key of the call that a retry belongs to."""
        earlier = {
            key: sent for key, sent in self._sent.items() if sent.fingerprint == fingerprint and sent.attempt < attempt
        }
        if not earlier:
            return self.first()
        return max(earlier, key=lambda key: (earlier[key].state, earlier[key].attempt))

    def sent(self, key: str, fingerprint: bytes, attempt: int) -> None:
        """Remember an attempt whose body is known."""
        self._forget_the_oldest()
        self._keep(key, _Sent(fingerprint, attempt, _State.OPEN, 0.0))

    def ended(self, key: str, *, delivered: bool) -> None:
        """Note that an attempt has ended, with an answer that its tool has, or without."""
        if known := self._sent.get(key):
            known.state = _State.DELIVERED if delivered else _State.FAILED
            self._keep(key, known)

    def _keep(self, key: str, sent: _Sent) -> None:
        self._sent.pop(key, None)
        sent.until = self._clock() + REMEMBERED_SECONDS
        self._sent[key] = sent  # at the end, so that they are in the order of their time

    def _forget_the_oldest(self) -> None:
        now = self._clock()
        while self._sent:
            oldest = next(iter(self._sent))
            if self._sent[oldest].until > now and len(self._sent) < REMEMBERED_KEYS:
                return
            del self._sent[oldest]


def attempt_of(headers: Mapping[str, str]) -> int:
    """Return the number of an SDK's attempt; 0 for the first, and for a tool that does not count."""
    text = headers.get(ATTEMPT, "")
    return int(text) if text.isascii() and text.isdigit() and len(text) < 4 else 0


def fingerprint(target: str, media_type: str, body: bytes) -> bytes:
    """Return what all attempts of a call have in common. A form's boundary is new in each of them."""
    boundary = media_type.partition(_BOUNDARY)[2].partition(";")[0].strip('" ').encode("latin-1")
    if boundary:
        media_type, body = media_type.partition(_BOUNDARY)[0], body.replace(boundary, b"")
    parts = (target.encode("latin-1"), media_type.encode("latin-1"), body)
    return hashlib.sha256(b"\0".join(parts)).digest()
