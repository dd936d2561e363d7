"""Content negotiation: the API always responds in JSON, so an unsupported Accept header causes no error."""

from typing import Any

from rest_framework.negotiation import DefaultContentNegotiation
from rest_framework.parsers import BaseParser
from rest_framework.renderers import BaseRenderer
from rest_framework.request import Request


class JSONOnly(DefaultContentNegotiation):
    """Always picks the view's first renderer, and a parser for the exact media type of the body."""

    def select_parser(self, request: Request, parsers: Any) -> BaseParser | None:
        """Return the parser of the body's media type; a range such as `*/*` is the type of no body."""
        return None if "*" in request.content_type else super().select_parser(request, parsers)

    def select_renderer(
        self, request: Request, renderers: Any, format_suffix: str | None = None
    ) -> tuple[BaseRenderer, str]:
        return renderers[0], renderers[0].media_type
