"""Serves the model routes on the event loop.

Django's stock ASGI handler starts a thread per request, because signals and response closing are synchronous. Here, one coroutine
handles a request from its first byte to its last. URLconf and views are Django's; its request and response are created only where
its middleware needs them.
"""

from gateway.core.http.lean.answers import LeanAnswer, LeanResponse
from gateway.core.http.lean.bodies import BodyReader, ClientLeft
from gateway.core.http.lean.handler import LeanHandler
from gateway.core.http.lean.requests import LeanRequest
from gateway.core.http.lean.streams import Incomplete, LeanStreamingResponse

__all__ = [
    "BodyReader",
    "ClientLeft",
    "Incomplete",
    "LeanAnswer",
    "LeanHandler",
    "LeanRequest",
    "LeanResponse",
    "LeanStreamingResponse",
]
