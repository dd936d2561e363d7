"""An upstream that says what a test tells it to, word by word."""

from collections.abc import Callable, Sequence
from typing import Any, cast

import orjson
from aiohttp import web

from tests.support.upstream import FakeUpstream
from tests.support.upstream.app import Upstream

Json = dict[str, Any]

USAGE: Json = {"input_tokens": 3, "output_tokens": 2, "total_tokens": 5}
SHELL: Json = {"id": "resp_1", "object": "response", "model": "m", "status": "in_progress", "output": [], "usage": None}
MESSAGE: Json = {
    "type": "message",
    "id": "msg_1",
    "role": "assistant",
    "status": "completed",
    "content": [{"type": "output_text", "text": "Hello", "annotations": []}],
}


def response_of(*output: Any, **members: Any) -> Json:
    """Make a whole response."""
    return {**SHELL, "status": "completed", "output": list(output), "usage": USAGE, **members}


def events_of(*events: Json, **members: Any) -> list[Json]:
    """Make the events of a stream that ends well, with these between its first and its last."""
    created, completed = {"type": "response.created", "response": SHELL}, {"type": "response.completed"}
    return [created, *events, {**completed, "response": response_of(MESSAGE, **members)}]


def added(item: Any, index: Any = 0) -> Json:
    """Make the event that begins an output item."""
    return {"type": "response.output_item.added", "output_index": index, "item": item}


class Script:
    """Answers every call with `says`: an object, or the events of a stream. `when_asked` is called before."""

    def __init__(self) -> None:
        self.says: Json | Sequence[Json] = {}
        self.on_request: Callable[[], None] = lambda: None
        self.requests: list[Json] = []

    def application(self) -> web.Application:
        """Build the application."""
        app = web.Application()
        app.router.add_post("/v1/chat/completions", self._answer)
        app.router.add_post("/v1/messages", self._answer)
        app.router.add_post("/v1/messages/count_tokens", self._answer)
        app.router.add_post("/v1/responses", self._answer)
        return app

    async def _answer(self, request: web.Request) -> web.Response:
        self.requests.append(orjson.loads(await request.read()))
        self.on_request()
        if isinstance(self.says, dict):
            return web.Response(body=orjson.dumps(self.says), content_type="application/json")
        laid_out = b"".join(b"data: %b\n\n" % orjson.dumps(event) for event in self.says)
        return web.Response(body=laid_out, content_type="text/event-stream")


class ScriptedUpstream(FakeUpstream):
    """Runs the script in a thread, as the fake upstream is run."""

    def __init__(self) -> None:
        super().__init__()
        self.player = Script()
        self._upstream = cast("Upstream", self.player)
