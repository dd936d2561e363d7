"""What the gateway uses of Django REST framework's private names, which any release may change (docs/decisions/0065)."""

from typing import Any

from django.http import HttpRequest
from rest_framework.request import Request


class HookedRequest(Request):
    """DRF's request. It tells when its body is looked at."""

    def body_found(self) -> None:
        """Hook: there is a body, which is not yet read. Raises to refuse it."""

    def parsing(self) -> None:
        """Hook: the view asks for the body, whether or not there is one. Raises to refuse it."""

    def _load_stream(self) -> None:
        super()._load_stream()  # type: ignore[misc]
        if self._stream is not None:
            self.body_found()

    def _parse(self) -> Any:
        self.parsing()
        return super()._parse()  # type: ignore[misc]


def django_request(request: Request) -> HttpRequest:
    """Return the request that DRF's wraps."""
    return request._request  # noqa: SLF001
