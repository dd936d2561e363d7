"""What the groups of routes have in common."""

from collections.abc import Callable
from typing import Any, TypeVar
from urllib.parse import quote

import requests

from account_gateway_client.answers import json_of

Item = TypeVar("Item")


class Page(list[Item]):
    """Items of a list, newest first. Where there are more behind them, `has_more` is true, and the next page comes with
    `after=` the id of the last one."""

    has_more = False


class Routes:
    """A group of routes; `request` sends one signed request, as `Gateway.request` does."""

    def __init__(self, request: Callable[..., requests.Response]) -> None:
        self._request = request

    def _send(self, method: str, path: str, **options: Any) -> Any:
        """Return the JSON of an answer. May raise GatewayError and GatewayUnreachable."""
        return json_of(self._request(method, path, **options))

    def _page(self, path: str, limit: int, after: str | None) -> Page[Any]:
        answer = self._send("GET", path, params=given(limit=limit, after=after))
        page: Page[Any] = Page(answer["data"])
        page.has_more = answer["hasMore"]
        return page


def segment(value: str) -> str:
    """Write an id as one segment of a path, or raise ValueError where it is none."""
    if value in ("", ".", ".."):
        raise ValueError("An id is missing.")
    return quote(value, safe="")


def given(**members: Any) -> dict[str, Any]:
    """Return the members that are not None."""
    return {name: value for name, value in members.items() if value is not None}
