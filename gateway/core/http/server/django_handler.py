"""Hands requests over to Django's synchronous middleware and views."""

from asgiref.sync import sync_to_async
from django.core.handlers.asgi import ASGIHandler
from django.http import HttpRequest
from django.http.response import HttpResponseBase

from gateway.core.http.requests import Utf8Request


class DjangoHandler(ASGIHandler):
    """Calls all middleware and the view of a request in its thread, one from the other.

    Django's own handler goes back to the event loop between them, for the view, for each middleware that looks at it and
    for its page: half a dozen times, where all are synchronous.
    """

    request_class = Utf8Request

    def load_middleware(self, is_async: bool = False) -> None:
        """Chain the middleware for a thread, whatever the handler asks for."""
        super().load_middleware(is_async=False)

    async def get_response_async(self, request: HttpRequest) -> HttpResponseBase:
        """Return the response that the request's thread makes."""
        return await sync_to_async(self.get_response)(request)
