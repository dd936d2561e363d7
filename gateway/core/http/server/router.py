"""Routes HTTP requests to their handlers."""

from typing import Any

from gateway.core.http.lean import LeanHandler
from gateway.core.http.server.django_slots import Application, DjangoSlots


class HttpRouter:
    """Passes model routes to the lean handler and the rest to Django, which runs a limited number at once."""

    def __init__(self, lean: LeanHandler, django: Application) -> None:
        self._lean = lean
        self._slots = DjangoSlots(django)

    async def __call__(self, scope: dict[str, Any], receive: Any, send: Any) -> None:
        """Serve one request."""
        await (self._lean if self._lean.serves(scope["path"]) else self._slots)(scope, receive, send)
