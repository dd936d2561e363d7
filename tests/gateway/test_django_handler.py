"""The handler of synchronous routes: middleware and view run one from the other, and to the end, also for nobody."""

import asyncio
import threading
import traceback
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.urls import path
from pytest_django import Settings

from gateway.core.http.server.django_handler import DjangoHandler
from tests.support.concurrency import PATIENCE_SECONDS

finished = threading.Event()
begun = threading.Event()
may_end = threading.Event()


def middleware(get_response: Callable[[HttpRequest], HttpResponseBase]) -> Callable[[HttpRequest], HttpResponseBase]:
    """Note that a request came back."""

    def call(request: HttpRequest) -> HttpResponseBase:
        response = get_response(request)
        finished.set()
        return response

    return call


def stack(request: HttpRequest) -> HttpResponse:
    """List the modules that are between the middleware and the view."""
    files = [frame.filename for frame in traceback.extract_stack()][:-1]
    below = len(files) - files[::-1].index(__file__)
    return HttpResponse(" ".join(file.split("/")[-4] for file in files[below:]))


def slow(request: HttpRequest) -> HttpResponse:
    begun.set()
    assert may_end.wait(PATIENCE_SECONDS)
    return HttpResponse()


def broken(request: HttpRequest) -> HttpResponse:
    raise RuntimeError("secret")


def streamed(request: HttpRequest) -> StreamingHttpResponse:
    async def parts() -> Any:
        yield b"one "
        await asyncio.sleep(0)
        yield b"two"

    return StreamingHttpResponse(parts())


def told_nothing(request: HttpRequest) -> HttpResponse:
    return HttpResponse("An error", status=500)


handler500 = told_nothing
urlpatterns = [path(view.__name__, view) for view in (stack, slow, broken, streamed)]


@pytest.fixture
def handler(settings: Settings) -> DjangoHandler:
    settings.MIDDLEWARE = [f"{__name__}.middleware"]
    settings.ROOT_URLCONF = __name__
    for event in (finished, begun, may_end):
        event.clear()
    return DjangoHandler()


async def never() -> None:
    await asyncio.Event().wait()


async def get(handler: Any, name: str, *, until: Callable[[], Awaitable[None]] = never) -> tuple[int, bytes]:
    """Return status and body of a response, for which the client waits until then."""
    asked, sent = [{"type": "http.request", "body": b""}], []

    async def receive() -> dict[str, Any]:
        if asked:
            return asked.pop()
        await until()
        return {"type": "http.disconnect"}

    async def send(message: dict[str, Any]) -> None:
        sent.append(message)

    scope = {"type": "http", "method": "GET", "path": f"/{name}", "query_string": b"", "headers": []}
    await asyncio.wait_for(handler(scope, receive, send), PATIENCE_SECONDS)
    return sent[0]["status"] if sent else 0, b"".join(message.get("body", b"") for message in sent)


async def test_a_view_runs_on_the_stack_of_its_middleware(handler: DjangoHandler) -> None:
    """No event loop is asked in between."""
    assert await get(handler, "stack") == (200, b"django django")


async def test_an_error_of_a_view_is_a_500_that_tells_nothing(
    handler: DjangoHandler, caplog: pytest.LogCaptureFixture
) -> None:
    status, body = await get(handler, "broken")
    assert (status, b"secret" in body) == (500, False)
    assert [record for record in caplog.records if record.exc_info]


async def test_an_async_stream_is_sent_whole(handler: DjangoHandler) -> None:
    assert await get(handler, "streamed") == (200, b"one two")


async def test_a_request_whose_client_has_left_is_finished(handler: DjangoHandler) -> None:
    async def its_view_has_begun() -> None:
        assert await asyncio.to_thread(begun.wait, PATIENCE_SECONDS)
        asyncio.get_running_loop().call_later(0.01, may_end.set)

    assert await get(handler, "slow", until=its_view_has_begun) == (0, b"")
    assert finished.wait(PATIENCE_SECONDS)
