"""An answer in one piece."""

from collections.abc import Mapping
from typing import Any

from django.http import HttpResponse


class LeanResponse(HttpResponse):
    """Django's response, made only when something looks at more of it than its status.

    Most answers are sent as they are: `plain_headers` are their headers then, None once they are Django's.
    """

    plain_headers: Mapping[str, str] | None

    def __init__(self, body: bytes, status: int, headers: Mapping[str, str]) -> None:
        self.body = body
        self.status_code = status
        self.plain_headers = headers

    def __getattr__(self, name: str) -> Any:
        """Fill in what Django's response has."""
        headers = self.__dict__.get("plain_headers")
        if name.startswith("__") or headers is None:
            raise AttributeError(name)
        self.plain_headers = None
        super().__init__(self.body, status=self.status_code, headers=dict(headers))
        return getattr(self, name)
