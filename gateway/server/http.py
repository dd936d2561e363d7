"""Chooses who serves an HTTP request."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from django.conf import settings

from gateway.api.lean import LeanHandler

Application = Callable[[dict[str, Any], Any, Any], Awaitable[None]]


class HttpRouter:
    """Hands the model routes to the lean handler and the rest to Django, of which only so many run at once.

    Every synchronous request takes a thread and soon a connection of Django's pool; more of them than that would only
    wait for each other there, until they time out.
    """

    def __init__(self, lean: LeanHandler, django: Application) -> None:
        self._lean = lean
        self._django = django
        self._places = asyncio.Semaphore(settings.SYNC_REQUESTS_MAX)

    async def __call__(self, scope: dict[str, Any], receive: Any, send: Any) -> None:
        """Serve one request."""
        if self._lean.serves(scope["path"]):
            await self._lean(scope, receive, send)
            return
        async with self._places:
            await self._django(scope, receive, send)
