"""A request of the lean handler, and Django's request that CORS gets for it."""

import json
from typing import Any

import pytest
from django.http.response import HttpResponseBase
from django.urls import path

from gateway.core.http.lean import LeanAnswer, LeanHandler, LeanRequest, LeanResponse, LeanStreamingResponse

APP = b"https://app.example"
Headers = list[tuple[bytes, bytes]]


def scope_of(path: str, headers: Headers, *, method: str = "POST", query: bytes = b"") -> dict[str, Any]:
    raw_path = path.encode() + (b"?" + query if query else b"")
    return {
        "type": "http",
        "method": method,
        "path": path,
        "raw_path": raw_path,
        "query_string": query,
        "headers": headers,
    }


async def answer_of(handler: LeanHandler, scope: dict[str, Any]) -> tuple[int, dict[bytes, bytes], bytes]:
    """Return status, headers and body."""
    sent: list[dict[str, Any]] = []

    async def receive() -> dict[str, Any]:
        return {"type": "http.request"}

    async def send(message: dict[str, Any]) -> None:
        sent.append(message)

    await handler(scope, receive, send)
    return sent[0]["status"], dict(sent[0]["headers"]), b"".join(message["body"] for message in sent[1:])


class Pages:
    """Two views, and the requests that reached them."""

    def __init__(self) -> None:
        self.seen: list[LeanRequest] = []
        view: Any = self.view
        self.handler = LeanHandler([path("v1/page", view), path("v1/stream", self.stream)])

    async def view(self, request: LeanRequest) -> LeanAnswer:
        self.seen.append(request)
        return LeanResponse(b"{}", 200, {"Content-Type": "application/json"})

    async def stream(self, request: LeanRequest) -> HttpResponseBase:
        return LeanStreamingResponse(Chunks(), {"Content-Type": "text/event-stream"})


class Chunks:
    async def __aiter__(self) -> Any:
        yield b"data: 1\n\n"

    async def aclose(self) -> None:
        """End."""


@pytest.fixture
def pages(settings: Any) -> Pages:
    settings.CORS_ALLOWED_ORIGINS = [APP.decode()]
    return Pages()


@pytest.mark.parametrize("url", ["/v1/page", "/v1/stream"])
async def test_only_a_page_of_a_known_origin_gets_the_headers_of_cors(pages: Pages, url: str) -> None:
    allowed = b"access-control-allow-origin"
    for origin, expected in ((APP, APP), (b"https://evil.example", None), (None, None)):
        headers = [(b"origin", origin)] if origin else []
        status, sent, body = await answer_of(pages.handler, scope_of(url, headers))
        assert (status, body) == (200, b"{}" if url == "/v1/page" else b"data: 1\n\n")
        assert sent.get(allowed) == expected
        assert sent[b"vary"] == b"origin"


async def test_a_preflight_reaches_no_view(pages: Pages) -> None:
    headers = [(b"origin", APP), (b"access-control-request-method", b"POST")]
    status, sent, body = await answer_of(pages.handler, scope_of("/v1/page", headers, method="OPTIONS"))
    assert (status, body, pages.seen) == (200, b"", [])
    assert sent[b"access-control-allow-origin"] == APP


async def test_a_view_s_request_is_a_plain_object(pages: Pages) -> None:
    headers = [(b"x-a", b"1"), (b"x-request-id", b"mine")]
    await answer_of(pages.handler, scope_of("/v1/page", headers, query=b"a=1"))
    [request] = pages.seen
    assert (request.method, request.path, request.raw_path) == ("POST", "/v1/page", b"/v1/page?a=1")
    assert (request.raw_headers, request.request_id) == (headers, "mine")
    with pytest.raises(AttributeError):
        request.META  # type: ignore[attr-defined]  # noqa: B018
    djangos = request.to_django()
    assert (djangos.method, djangos.path_info, djangos.GET["a"]) == ("POST", "/v1/page", "1")
    assert djangos.headers["X-A"] == "1"


async def test_a_page_s_query_that_is_not_utf_8_is_refused_before_the_view(pages: Pages) -> None:
    scope = scope_of("/v1/page", [(b"origin", APP)], query=b"a=\xff")
    status, _, body = await answer_of(pages.handler, scope)
    assert (status, json.loads(body)["error"]["code"], pages.seen) == (400, "invalid_request", [])
