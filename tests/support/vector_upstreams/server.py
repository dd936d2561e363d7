"""A server for JSON requests that responds honestly or as a test specifies."""

import hashlib
import re
from abc import abstractmethod
from collections.abc import Callable
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
import orjson
from aiohttp import web

from tests.support.server_thread import ServerThread

Json = dict[str, Any]
WORD = re.compile(r"\S+")


class ReceivedRequest(NamedTuple):
    """One received call."""

    path: str
    body: Json
    key: str | None
    authorization: str | None


Twist = Callable[[ReceivedRequest, Json], Any]


class VectorUpstream(ServerThread):
    """Runs until the context ends. `twist` gets a call and its honest response, and returns another object or
    response."""

    routes: tuple[str, ...] = ()
    version = "/v1"
    """The path prefix in the upstream's base URL."""

    def __init__(self) -> None:
        super().__init__()
        self.requests: list[ReceivedRequest] = []
        self.twist: Twist | None = None

    @property
    def base_url(self) -> str:
        """Return the base URL of the upstream."""
        return self.origin + self.version

    def application(self) -> web.Application:
        """Build the application."""
        app = web.Application(client_max_size=64 * 1024 * 1024)
        for route in self.routes:
            app.router.add_post(self.version + route, self._answer)
        return app

    @abstractmethod
    def honest(self, path: str, body: Json) -> Json:
        """Respond to a call."""

    async def _answer(self, request: web.Request) -> web.StreamResponse:
        headers = request.headers
        path = request.path.removeprefix(self.version)
        call = ReceivedRequest(
            path, orjson.loads(await request.read()), headers.get("Idempotency-Key"), headers["Authorization"]
        )
        self.requests.append(call)
        honest = self.honest(call.path, call.body)
        if self.twist is None:  # a tenth of the time that `json` takes for vectors, but it writes no NaN
            return web.Response(body=orjson.dumps(honest), content_type="application/json")
        answer: Any = self.twist(call, honest)
        if isinstance(answer, web.StreamResponse):
            return answer
        return web.json_response(answer)


def refusal(status: int, **error: Any) -> web.Response:
    """Build an error response."""
    return web.Response(status=status, body=orjson.dumps({"error": error}), content_type="application/json")


def vector(text: str, dimensions: int) -> list[float]:
    """Build the unit vector of a text."""
    return list(_values(text, dimensions))


@lru_cache(4096)
def _values(text: str, dimensions: int) -> tuple[float, ...]:
    seed = int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big")
    raw = np.random.default_rng(seed).standard_normal(dimensions).astype(np.float32)
    return tuple(float(value) for value in raw / np.linalg.norm(raw))


def words(text: str) -> list[tuple[int, int]]:
    """Split a text into words, by code points."""
    return [found.span() for found in WORD.finditer(text)]


def count(texts: list[str]) -> int:
    """Count the words of texts, which these upstreams charge."""
    return sum(len(words(text)) for text in texts)
