"""An upstream whose streams deliver a delta every 20 ms, each with the time at which it was written.

A stream sends its first event and then waits for `POST /_start`, so that all are open when their deltas begin. The deltas of all
streams are spread evenly over the 20 ms, in ticks of a millisecond. The time is the machine's monotonic clock in nanoseconds, which
the load generator reads too. `python -m bench.paced_upstream --port 9002` starts it alone.
"""

import argparse
import asyncio
import os
import time
from collections.abc import Iterator
from typing import Any

import orjson
import uvloop
from aiohttp import web

from bench.config import PACE_SECONDS, PACED_DELTAS
from tests.support.server_thread import listening
from tests.support.upstream.tokens import count_prompt

TICK_SECONDS = 0.001
TICKS = round(PACE_SECONDS / TICK_SECONDS)
STAMP_DIGITS = 16
END = b"data: [DONE]\n\n"


class Stream:
    """The paced part of one response. It is written past aiohttp, so that a delta's time is that of its system call."""

    def __init__(self, transport: asyncio.Transport, head: dict[str, Any]) -> None:
        self._transport = transport
        self._socket = transport.get_extra_info("socket").fileno()
        event = event_bytes({**head, "choices": [_choice({"content": "0" * STAMP_DIGITS})], "usage": None})
        before, after = event.split(b"0" * STAMP_DIGITS)
        self._before, self._after = b"%x\r\n%b" % (len(event), before), after + b"\r\n"
        self.written = 0
        self.done: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def write(self) -> None:
        """Write the next delta. `done` is set after the last one, or if the peer has left."""
        if self._transport.is_closing():
            self._finish()
            return
        self._send(b"%b%016d%b" % (self._before, time.monotonic_ns(), self._after))
        self.written += 1
        if self.written == PACED_DELTAS:
            self._finish()

    def _send(self, data: bytes) -> None:
        sent = 0
        if not self._transport.get_write_buffer_size():
            try:
                sent = os.write(self._socket, data)
            except OSError:  # the peer does not read, or has left, which the transport notices
                sent = 0
        if sent < len(data):
            self._transport.write(data[sent:])

    def _finish(self) -> None:
        if not self.done.done():
            self.done.set_result(None)


class Pacer:
    """Writes the deltas of the streams that were open at the start."""

    def __init__(self) -> None:
        self._waiting: list[Stream] = []

    def add(self, stream: Stream) -> None:
        """Add a stream, which waits for the next start."""
        self._waiting.append(stream)

    async def run(self) -> None:
        """Write all deltas of the waiting streams."""
        streams, self._waiting = self._waiting, []
        slots = [streams[index::TICKS] for index in range(TICKS)]
        began = time.monotonic()
        for tick in range(TICKS * PACED_DELTAS):
            await asyncio.sleep(began + tick * TICK_SECONDS - time.monotonic())
            for stream in slots[tick % TICKS]:
                if not stream.done.done():
                    stream.write()


class PacedUpstream:
    """An OpenAI-compatible service with streamed chats only, and a ledger as the fake upstream has."""

    def __init__(self) -> None:
        self._entries: list[dict[str, Any]] = []
        self._pacer = Pacer()
        self._running: set[asyncio.Task[None]] = set()

    def application(self) -> web.Application:
        """Build the aiohttp application."""
        app = web.Application()
        app.router.add_post("/v1/chat/completions", self.chat)
        app.router.add_get("/v1/models", self.list_models)
        app.router.add_post("/_start", self.start)
        app.router.add_get("/_ledger", self.show_ledger)
        app.router.add_post("/_reset", self.reset)
        return app

    async def chat(self, request: web.Request) -> web.StreamResponse:
        """Respond with one paced stream, and record what was sent."""
        body = orjson.loads(await request.read())
        entry = self._remember(request, body)
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        response.enable_chunked_encoding()
        await response.prepare(request)
        transport = request.transport
        assert transport is not None
        head = {
            "id": entry["id"],
            "object": "chat.completion.chunk",
            "created": int(time.time()),
            "model": body["model"],
        }
        opening = {**head, "choices": [_choice({"role": "assistant", "content": ""})], "usage": None}
        await response.write(event_bytes(opening))
        stream = Stream(transport, head)
        self._pacer.add(stream)
        await stream.done
        entry["completion_tokens"] = stream.written
        if stream.written == PACED_DELTAS:
            entry["outcome"] = "complete"
            await response.write(b"".join(_ending(head, entry)))
            await response.write_eof()
        return response

    async def start(self, request: web.Request) -> web.Response:
        """Begin with the deltas of all streams that are open."""
        task = asyncio.create_task(self._pacer.run())
        self._running.add(task)
        task.add_done_callback(self._running.discard)
        return web.Response(status=204)

    async def list_models(self, request: web.Request) -> web.Response:
        """List no model; the server is ready."""
        return web.json_response({"object": "list", "data": []})

    async def show_ledger(self, request: web.Request) -> web.Response:
        """Return the ledger."""
        return web.Response(body=orjson.dumps({"data": self._entries}), content_type="application/json")

    async def reset(self, request: web.Request) -> web.Response:
        """Empty the ledger."""
        self._entries.clear()
        return web.Response(status=204)

    def _remember(self, request: web.Request, body: dict[str, Any]) -> dict[str, Any]:
        entry = {
            "id": f"chatcmpl-paced-{time.monotonic_ns()}",
            "model": body["model"],
            "idempotency_key": request.headers.get("Idempotency-Key"),
            "client_request_id": request.headers.get("X-Client-Request-Id"),
            "prompt_tokens": count_prompt(body),
            "completion_tokens": 0,
            "outcome": "open",
        }
        self._entries.append(entry)
        return entry


def event_bytes(event: dict[str, Any]) -> bytes:
    """Write one event."""
    return b"data: %b\n\n" % orjson.dumps(event)


def _ending(head: dict[str, Any], entry: dict[str, Any]) -> Iterator[bytes]:
    yield event_bytes({**head, "choices": [_choice({}, "stop")], "usage": None})
    counts = {name: entry[name] for name in ("prompt_tokens", "completion_tokens")}
    yield event_bytes({**head, "choices": [], "usage": {**counts, "total_tokens": sum(counts.values())}})
    yield END


def _choice(delta: dict[str, Any], finish_reason: str | None = None) -> dict[str, Any]:
    return {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish_reason}


async def serve(port: int) -> None:
    """Serve until the process is stopped."""
    async with listening(PacedUpstream().application(), port):
        await asyncio.Event().wait()


def main() -> None:
    """Read the command line and serve."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--port", type=int, required=True)
    uvloop.run(serve(parser.parse_args().port))


if __name__ == "__main__":
    main()
