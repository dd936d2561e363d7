"""Limits a session's time: ends it when its token expires, or when it has been idle for too long."""

import asyncio
import time
from collections.abc import Callable

from django.conf import settings

from gateway.core.contract.errors import InvalidToken
from inference.routes.realtime import endings
from inference.routes.realtime.endings import Ending
from inference.routes.realtime.reauthorization import Authorization


class SessionTimer:
    """One session's timer."""

    def __init__(self, authorization: Authorization, end: Callable[[Ending], None]) -> None:
        self._authorization = authorization
        self._end = end
        self._loop = asyncio.get_running_loop()
        self._timer: asyncio.TimerHandle | None = None
        self.touch()

    def touch(self) -> None:
        """Record activity."""
        self._active_at = self._loop.time()

    def begin(self) -> None:
        """Schedule a check for when the token or the idle timeout expires."""
        self.stop()
        until_end = self._authorization.expires_at - time.time()
        silent_for = self._loop.time() - self._active_at
        wait = min(until_end, settings.REALTIME_IDLE_SECONDS - silent_for)
        self._timer = self._loop.call_later(max(wait, 0.0), self._check)

    def stop(self) -> None:
        """Cancel the check."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _check(self) -> None:
        if time.time() >= self._authorization.expires_at:
            self._end(endings.stopped(InvalidToken("The access token has expired.")))
        elif self._loop.time() - self._active_at >= settings.REALTIME_IDLE_SECONDS:
            self._end(endings.ENDED_IDLE)
        else:
            self.begin()
