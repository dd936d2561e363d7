"""The stand, with answers that wait, streams that do not end, and usage records."""

import asyncio
import json
from datetime import UTC, datetime
from typing import Any

from aiohttp import web

from tests.clients.stand import CHARGE, Stand
from tests.support.concurrency import eventually


class HeldStand(Stand):
    """`arrived` counts the chats that have come in, and `left` those whose client did not wait for the end."""

    def __init__(self, jwks: dict[str, Any], port: int = 0) -> None:
        super().__init__(jwks)
        self.port = port
        self.arrived = 0
        self.left = 0
        self.redirects = False
        self.records: list[dict[str, Any]] = []
        self.bodies: list[bytes] = []
        self._gate = asyncio.Event()
        self._gate.set()

    def application(self) -> web.Application:
        app = super().application()
        app._client_max_size = 64 * 2**20
        app.router.add_get("/v1/usage/{usage_id}", self._record)
        app.router.add_post("/v1/audio/speech", self._speech)
        app.router.add_post("/v1/messages/count_tokens", self._count)
        return app

    def hold(self) -> None:
        """Hold chats back."""
        self.loop.call_soon_threadsafe(self._gate.clear)
        eventually(lambda: not self._gate.is_set())

    def release(self) -> None:
        """Release them."""
        self.loop.call_soon_threadsafe(self._gate.set)

    def record(self, status: str, charge: int = CHARGE, key: str = "") -> None:
        """Set what became of the call of a key, or of the last one."""
        found = {
            "usageId": "use_1",
            "route": "chat.completions",
            "status": status,
            "chargedMicrousd": charge,
            "createdAt": datetime.now(UTC).isoformat(),
            "idempotencyKey": key or self.attempts[-1]["Idempotency-Key"],
        }
        self.records = [found, *(each for each in self.records if each["idempotencyKey"] != found["idempotencyKey"])]

    async def _chat(self, request: web.Request) -> web.StreamResponse:
        self.arrived += 1
        if self.redirects:
            return web.Response(status=307, headers={"Location": "/foreign"})
        if not await self._may_go_on(request):
            raise ConnectionResetError
        self.bodies.append(await request.read())
        if b"endless" in self.bodies[-1]:
            return await self._endless(request)
        return await super()._chat(request)

    async def _may_go_on(self, request: web.Request) -> bool:
        """Wait while chats are held. Return False, and count it, where the client leaves meanwhile."""
        while not self._gate.is_set():
            if request.transport is None or request.transport.is_closing():
                self.left += 1
                return False
            await asyncio.sleep(0.01)
        return True

    async def _endless(self, request: web.Request) -> web.StreamResponse:
        refusal, _, _ = await self._take(request)
        assert refusal is None
        response = web.StreamResponse(
            headers={"Content-Type": "text/event-stream", "x-service-usage-id": "use_1", "x-service-hold-microusd": "9"}
        )
        await response.prepare(request)
        try:
            while True:
                await response.write(b"data: {}\n\n")
                await asyncio.sleep(0.01)
        except ConnectionError:
            self.left += 1
            raise

    async def _speech(self, request: web.Request) -> web.StreamResponse:
        refusal, _, _ = await self._take(request)
        headers = {"x-service-usage-id": "use_1", "x-service-hold-microusd": "900"}
        return refusal or web.Response(body=bytes(range(256)) * 64, content_type="audio/mpeg", headers=headers)

    async def _count(self, request: web.Request) -> web.StreamResponse:
        assert "Idempotency-Key" not in request.headers
        return self._admit(request) or web.json_response({"input_tokens": 3})

    async def _usage(self, request: web.Request) -> web.Response:
        return self._admit(request) or web.json_response({"data": self.records})

    async def _record(self, request: web.Request) -> web.Response:
        if refusal := self._admit(request):
            return refusal
        found = [each for each in self.records if each["usageId"] == request.match_info["usage_id"]]
        return web.json_response(found[0]) if found else web.json_response({"error": {}}, status=404)

    async def _models(self, request: web.Request) -> web.Response:
        models = [
            {"id": "fast", "created": 0, "routes": ["chat.completions", "messages"], "authorized": True},
            {"id": "embedding", "created": 0, "routes": ["embeddings"], "authorized": True},
            {"id": "balanced", "created": 0, "routes": ["chat.completions", "messages"], "authorized": False},
        ]
        answer = json.dumps({"object": "list", "data": models}).encode()
        return self._admit(request) or web.Response(body=answer, content_type="application/json")
