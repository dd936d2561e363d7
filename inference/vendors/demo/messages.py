"""Messages of the demo backend, complete or word by word, slowly enough to watch."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

import orjson

from inference.interface.answer import Answer, Chunk
from inference.interface.upstream import Attempt
from inference.routes.messages.bound import BoundedMessage
from inference.routes.messages.events import MESSAGE_STOP, events_of, output_bytes, render
from inference.translation.chat.request_writer import write_request
from inference.translation.messages.request_reader import read_request
from inference.vendors.demo.endpoint import TOKEN_SECONDS, DemoEndpoint
from inference.vendors.demo.prompt import read_prompt
from inference.vendors.demo.reply import Reply, reply_to
from inference.vendors.demo.tokens import pieces_of

_REASONS = {"length": "max_tokens", "tool_calls": "tool_use"}


class DemoMessages(DemoEndpoint[BoundedMessage]):
    """Responds with one block: a text, or a tool use."""

    async def answer(self, attempt: Attempt[BoundedMessage]) -> Answer:
        message = _message(attempt)
        return Answer(message, message["usage"])

    def chunks(self, attempt: Attempt[BoundedMessage]) -> AsyncIterator[Chunk]:
        pause_seconds = float(attempt.target.options.get("token_seconds", TOKEN_SECONDS))
        return _chunks(_message(attempt), pause_seconds)


async def _chunks(message: dict[str, Any], pause_seconds: float) -> AsyncIterator[Chunk]:
    for event in events_of(message, pieces_of):
        if event is MESSAGE_STOP:
            return
        if event["type"] == "content_block_delta":
            await asyncio.sleep(pause_seconds)
            yield Chunk(render(event), 1, output_bytes(event))
        else:
            usage = event["usage"] if event["type"] == "message_delta" else None
            yield Chunk(render(event), usage=usage, events=(event,))


def _message(attempt: Attempt[BoundedMessage]) -> dict[str, Any]:
    """Build the message, as the demo answers the equivalent chat."""
    chat = write_request(
        replace(read_request(attempt.request.body), particular={})
    )  # such as `top_k`, which changes nothing here
    prompt = read_prompt(chat)
    reply = reply_to(prompt, chat)
    return {
        "id": attempt.call.public_id,
        "type": "message",
        "role": "assistant",
        "model": attempt.call.public_model,
        "content": [_block(attempt.call.public_id, reply)],
        "stop_reason": _REASONS.get(reply.finish_reason, "end_turn" if reply.stop is None else "stop_sequence"),
        "stop_sequence": reply.stop,
        "usage": {
            "input_tokens": prompt.tokens,
            "cache_creation_input_tokens": 0,
            "cache_read_input_tokens": 0,
            "output_tokens": len(reply.pieces),
        },
    }


def _block(public_id: str, reply: Reply) -> dict[str, Any]:
    text = "".join(reply.pieces)
    if not reply.tool:
        return {"type": "text", "text": text}
    try:
        arguments = orjson.loads(text)
    except ValueError:  # cut at the output limit
        arguments = {}
    return {"type": "tool_use", "id": f"toolu_{public_id[-26:]}_0", "name": reply.tool, "input": arguments}
