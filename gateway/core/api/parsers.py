"""Parses JSON bodies of the management routes: strictly, bounded before parsing, and an empty body is an error."""

from collections.abc import Mapping
from typing import IO, Any

from rest_framework.parsers import BaseParser

from gateway.core.api.drf_internals import HookedRequest
from gateway.core.contract.errors import InvalidJson, RequestTooLarge
from gateway.core.contract.limits import JSON_BODY_MAX_BYTES, JSON_VALUES_MAX
from gateway.core.http.codings import HEADER, check_coding
from gateway.core.json.strict import strict_loads


class StrictJSONParser(BaseParser):
    """Reads a JSON object of at most 64 KiB and 10,000 members and elements; a viewset with larger bodies uses a
    subclass."""

    media_type = "application/json"
    max_bytes = JSON_BODY_MAX_BYTES

    def parse(
        self, stream: IO[Any], media_type: str | None = None, parser_context: Mapping[str, Any] | None = None
    ) -> dict[str, Any]:
        """Return the body's members, or raise RequestTooLarge or InvalidJson."""
        body = stream.read(self.max_bytes + 1)
        if len(body) > self.max_bytes:
            raise RequestTooLarge
        return strict_loads(body, JSON_VALUES_MAX)


class ApiRequest(HookedRequest):
    """DRF's request, except that an empty body is invalid JSON for a view that asks for the body, and none is decoded."""

    def body_found(self) -> None:
        """Refuse a body with a content coding."""
        check_coding(self.headers.get(HEADER, ""))

    def parsing(self) -> None:
        """Refuse a missing body."""
        if self.stream is None and any(isinstance(parser, StrictJSONParser) for parser in self.parsers or ()):
            raise InvalidJson("The body must be a JSON object.")
