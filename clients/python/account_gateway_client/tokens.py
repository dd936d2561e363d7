"""Access tokens that renew themselves: cached, fetched once however many threads and tasks ask, renewed in time."""

import asyncio
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

from account_gateway_client.keys import ProofKey

RENEW_BEFORE_SECONDS = 30.0


@dataclass(frozen=True, slots=True)
class AccessToken:
    """A token as the gateway gave it. `renew_at` is a reading of the monotonic clock, in seconds."""

    value: str = field(repr=False)
    scopes: frozenset[str]
    renew_at: float


class TokenSource(Protocol):
    """Whatever gives access tokens bound to `key`."""

    key: ProofKey

    def token(self) -> str:
        """Return a live token, fetching one where needed."""

    async def token_async(self) -> str:
        """Return a live token without blocking the event loop."""

    def forget(self, token: str) -> None:
        """Drop a token that the gateway refused, unless it was replaced already."""


class CachedTokens:
    """A TokenSource around a function that fetches a token."""

    def __init__(self, key: ProofKey, fetch: Callable[[], AccessToken]) -> None:
        self.key = key
        self._fetch = fetch
        self._lock = threading.Lock()
        self._current: AccessToken | None = None

    def token(self) -> str:
        """Return a live token, fetching one where needed."""
        if live := self._live():
            return live.value
        with self._lock:
            current = self._live()
            if current is None:
                current = self._current = self._fetch()
            return current.value

    async def token_async(self) -> str:
        """Return a live token; a fetch runs in a thread, so that the event loop goes on."""
        live = self._live()
        return live.value if live else await asyncio.to_thread(self.token)

    def forget(self, token: str) -> None:
        """Drop a token that the gateway refused, unless it was replaced already."""
        with self._lock:
            if self._current and self._current.value == token:
                self._current = None

    def _live(self) -> AccessToken | None:
        current = self._current
        return current if current and time.monotonic() < current.renew_at else None
