"""An upstream that plays recordings back, by the model's name: responses, or chat completions."""

from typing import Any, cast

import orjson
from aiohttp import web

from tests.inference.translation.recordings import RECORDINGS, whole_chat
from tests.support.upstream import FakeUpstream
from tests.support.upstream.app import Upstream


class Player:
    """Plays recordings back, and remembers what it was asked."""

    def __init__(self) -> None:
        self.requests: list[tuple[str, dict[str, Any]]] = []

    def application(self) -> web.Application:
        """Build the application."""
        app = web.Application()
        app.router.add_post("/v1/chat/completions", self._play)
        app.router.add_post("/v1/responses", self._play)
        return app

    async def _play(self, request: web.Request) -> web.Response:
        body = orjson.loads(await request.read())
        self.requests.append((request.path.removeprefix("/v1"), body))
        recording, is_chat = RECORDINGS[body["model"]], "chat" in request.path
        if not body.get("stream"):
            return web.json_response(whole_chat(recording) if is_chat else recording.responses[-1]["response"])
        events = recording.chat if is_chat else recording.responses
        laid_out = b"".join(b"data: %b\n\n" % orjson.dumps(event) for event in events)
        return web.Response(body=laid_out + (b"data: [DONE]\n\n" if is_chat else b""), content_type="text/event-stream")


class RecordedUpstream(FakeUpstream):
    """Runs the player in a thread, as the fake upstream is run."""

    def __init__(self) -> None:
        super().__init__()
        self.player = Player()
        self._upstream = cast("Upstream", self.player)
