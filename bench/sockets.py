"""Servers for the session benchmark: an upstream that echoes frames, and a relay without governance.

uvicorn bench.sockets:echo
UPSTREAM=ws://… uvicorn bench.sockets:relay
"""

import asyncio
import os
from typing import Any

import aiohttp
import orjson

CREATED = orjson.dumps({"type": "session.created", "event_id": "event_1", "session": {"type": "realtime"}}).decode()
UPDATED = orjson.dumps({"type": "session.updated", "event_id": "event_2", "session": {"type": "realtime"}}).decode()


async def echo(scope: dict[str, Any], receive: Any, send: Any) -> None:
    """Answer every audio frame with one of the same size."""
    if scope["type"] != "websocket":
        return
    await receive()
    await send({"type": "websocket.accept"})
    await send({"type": "websocket.send", "text": CREATED})
    while (message := await receive())["type"] == "websocket.receive":
        event = orjson.loads(message["text"])
        text = UPDATED
        if event["type"] == "input_audio_buffer.append":
            text = orjson.dumps({**event, "type": "bench.echo"}).decode()
        await send({"type": "websocket.send", "text": text})


async def relay(scope: dict[str, Any], receive: Any, send: Any) -> None:
    """Relay frames unchanged in both directions."""
    if scope["type"] != "websocket":
        return
    await receive()
    async with aiohttp.ClientSession() as session, session.ws_connect(os.environ["UPSTREAM"]) as upstream:
        await send({"type": "websocket.accept"})
        back = asyncio.ensure_future(_back(upstream, send))
        while (message := await receive())["type"] == "websocket.receive":
            await upstream.send_str(message["text"])
        back.cancel()


async def _back(upstream: aiohttp.ClientWebSocketResponse[bool], send: Any) -> None:
    async for message in upstream:
        await send({"type": "websocket.send", "text": message.data})
