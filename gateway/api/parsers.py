"""The JSON parser of the management routes: strict, and bounded before anything is read."""

from collections.abc import Mapping
from typing import IO, Any

from rest_framework.parsers import BaseParser

from gateway.api.json import strict_loads
from gateway.contract.errors import RequestTooLarge
from gateway.contract.limits import JSON_BODY_MAX_BYTES


class StrictJSONParser(BaseParser):
    """Reads a JSON object of at most 64 KiB."""

    media_type = "application/json"

    def parse(
        self, stream: IO[Any], media_type: str | None = None, parser_context: Mapping[str, Any] | None = None
    ) -> dict[str, Any]:
        """Return the body's members, or raise RequestTooLarge or InvalidJson."""
        body = stream.read(JSON_BODY_MAX_BYTES + 1)
        if len(body) > JSON_BODY_MAX_BYTES:
            raise RequestTooLarge
        return strict_loads(body)
