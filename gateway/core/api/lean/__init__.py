"""Serves the model routes on the event loop.

Django's stock ASGI handler starts a thread per request, because signals and response closing are synchronous. The same
request, URLconf and response classes are used here without either: one coroutine handles a request from its first byte
to its last.
"""

from gateway.core.api.lean.answers import LeanResponse
from gateway.core.api.lean.bodies import BodyReader, ClientLeft
from gateway.core.api.lean.handler import LeanHandler, LeanRequest
from gateway.core.api.lean.streams import Incomplete, LeanStreamingResponse
from gateway.core.api.lean.viewsets import LeanViewSet

__all__ = [
    "BodyReader",
    "ClientLeft",
    "Incomplete",
    "LeanHandler",
    "LeanRequest",
    "LeanResponse",
    "LeanStreamingResponse",
    "LeanViewSet",
]
