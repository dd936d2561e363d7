"""The form parser of the OAuth token endpoint. RFC 6749 section 3.2 and appendix B."""

from collections.abc import Mapping
from typing import IO, Any
from urllib.parse import parse_qsl

from rest_framework.parsers import BaseParser

from gateway.core.contract.errors import InvalidRequest, RequestTooLarge
from gateway.core.contract.limits import JSON_BODY_MAX_BYTES

FIELDS_MAX = 64


class StrictFormParser(BaseParser):
    """Parses a UTF-8 form of at most 64 KiB. A parameter without a value is treated as omitted."""

    media_type = "application/x-www-form-urlencoded"

    def parse(
        self, stream: IO[Any], media_type: str | None = None, parser_context: Mapping[str, Any] | None = None
    ) -> dict[str, str]:
        """Return the parameters. Raises RequestTooLarge, or InvalidRequest, for example for a repeated parameter."""
        body = stream.read(JSON_BODY_MAX_BYTES + 1)
        if len(body) > JSON_BODY_MAX_BYTES:
            raise RequestTooLarge
        try:
            pairs = parse_qsl(body.decode("ascii"), keep_blank_values=True, errors="strict", max_num_fields=FIELDS_MAX)
        except ValueError:
            raise InvalidRequest("The body is not a valid form.") from None
        return _once_each(pairs)


def _once_each(pairs: list[tuple[str, str]]) -> dict[str, str]:
    parameters: dict[str, str] = {}
    for name, value in pairs:
        if name in parameters:
            raise InvalidRequest("A parameter is given more than once.", param=name[:64])
        parameters[name] = value
    return {name: value for name, value in parameters.items() if value}
