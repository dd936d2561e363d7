"""What the groups of routes have in common."""

from collections.abc import Callable
from typing import Any
from urllib.parse import quote

import requests

from account_gateway_client.answers import json_of


class Routes:
    """A group of routes; `request` sends one signed request, as `Gateway.request` does."""

    def __init__(self, request: Callable[..., requests.Response]) -> None:
        self._request = request

    def _send(self, method: str, path: str, **options: Any) -> Any:
        """Return the JSON of an answer. May raise GatewayError and GatewayUnreachable."""
        return json_of(self._request(method, path, **options))

    def _list(self, path: str, limit: int) -> list[Any]:
        return list(self._send("GET", path, params={"limit": limit})["data"])


def segment(value: str) -> str:
    """Write an id as one segment of a path, or raise ValueError where it is none."""
    if value in ("", ".", ".."):
        raise ValueError("An id is missing.")
    return quote(value, safe="")


def given(**members: Any) -> dict[str, Any]:
    """Return the members that are not None."""
    return {name: value for name, value in members.items() if value is not None}
