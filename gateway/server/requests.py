"""Requests as Django's part is given them."""

from django.core.handlers.asgi import ASGIRequest


class Utf8Request(ASGIRequest):
    """Reads query and form as UTF-8, whatever charset its Content-Type names.

    Django would read them by it, and some of the codecs that it may name read no text at all. A form's media type has
    no such parameter, and JSON is UTF-8.
    """

    @property
    def encoding(self) -> None:
        """Return that there is no other encoding than the default one."""

    @encoding.setter
    def encoding(self, value: object) -> None:
        """Ignore what the client says."""
