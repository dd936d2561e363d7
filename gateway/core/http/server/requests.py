"""The request class of Django's routes."""

from django.core.handlers.asgi import ASGIRequest


class Utf8Request(ASGIRequest):
    """Reads query and form as UTF-8, whatever charset its Content-Type names.

    Django would decode them with that charset, and some of Python's codecs are not text encodings. A form's media type
    has no such parameter, and JSON is UTF-8.
    """

    @property
    def encoding(self) -> None:
        """Return None: there is no encoding other than the default."""

    @encoding.setter
    def encoding(self, value: object) -> None:
        """Ignore the client's charset."""
