"""The class of Django's requests."""

from typing import Any

from django.core.handlers.asgi import ASGIRequest


class Utf8Request(ASGIRequest):
    """Reads query and form as UTF-8, whatever charset its Content-Type names. Raises UnicodeDecodeError if the query is not.

    Django would decode them with that charset, and some of Python's codecs are not text encodings. A form's media type
    has no such parameter, and JSON is UTF-8. A Content-Type that Django cannot read counts as absent.
    """

    def __init__(self, scope: dict[str, Any], body_file: Any) -> None:
        try:
            super().__init__(scope, body_file)
        except ValueError:  # such as a parameter in an encoding that does not exist (RFC 2231)
            headers = [(name, value) for name, value in scope["headers"] if name != b"content-type"]
            super().__init__({**scope, "headers": headers}, body_file)

    @property
    def encoding(self) -> None:
        """Return None: there is no encoding other than the default."""

    @encoding.setter
    def encoding(self, value: object) -> None:
        """Ignore the client's charset."""
