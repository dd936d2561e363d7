"""Serves the model routes on the event loop.

Django's stock ASGI handler starts a thread per request, because signals and response closing are synchronous. The same
request, URLconf and response classes are used here without either: one coroutine handles a request from its first byte
to its last.
"""

from gateway.core.http.lean.answers import LeanResponse
from gateway.core.http.lean.bodies import BodyReader, ClientLeft
from gateway.core.http.lean.handler import LeanHandler, LeanRequest
from gateway.core.http.lean.streams import Incomplete, LeanStreamingResponse

__all__ = [
    "BodyReader",
    "ClientLeft",
    "Incomplete",
    "LeanHandler",
    "LeanRequest",
    "LeanResponse",
    "LeanStreamingResponse",
]
