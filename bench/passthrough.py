"""A pass-through proxy without governance: the minimum cost of a hop in Python.

Run it with `python -m bench.passthrough --port 9001 --upstream http://127.0.0.1:9000`.
"""

import argparse
from collections.abc import AsyncIterator

import aiohttp
import uvloop
from aiohttp import web

HOP_BY_HOP = {"connection", "content-length", "host", "keep-alive", "transfer-encoding"}
MAX_BODY_BYTES = 16 * 1024 * 1024


class PassThrough:
    """Forwards every request to one upstream, and streams the response back."""

    def __init__(self, upstream: str) -> None:
        self._upstream = upstream

    def application(self) -> web.Application:
        """Build the aiohttp application."""
        app = web.Application(client_max_size=MAX_BODY_BYTES)
        app.cleanup_ctx.append(self._open_session)
        app.router.add_route("*", "/{path:.*}", self.forward)
        return app

    async def forward(self, request: web.Request) -> web.StreamResponse:
        """Forward one request."""
        headers = {name: value for name, value in request.headers.items() if name.lower() not in HOP_BY_HOP}
        url = self._upstream + request.path_qs
        body = await request.read()
        async with self._session.request(request.method, url, data=body, headers=headers) as answer:
            if answer.content_type != "text/event-stream":
                return web.Response(status=answer.status, body=await answer.read(), content_type=answer.content_type)
            stream = web.StreamResponse(status=answer.status)
            stream.content_type = answer.content_type
            await stream.prepare(request)
            async for piece in answer.content.iter_any():
                await stream.write(piece)
            return stream

    async def _open_session(self, app: web.Application) -> AsyncIterator[None]:
        connector = aiohttp.TCPConnector(limit=0)
        async with aiohttp.ClientSession(connector=connector) as self._session:
            yield


def main() -> None:
    """Read the command line and serve until stopped."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--upstream", required=True, help="scheme, host and port")
    options = parser.parse_args()
    uvloop.install()
    app = PassThrough(options.upstream).application()
    web.run_app(app, host="127.0.0.1", port=options.port, access_log=None, print=None)


if __name__ == "__main__":
    main()
