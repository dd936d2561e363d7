"""Chat completions of the demo backend, complete or word by word, slowly enough to watch."""

import asyncio
import time
from collections.abc import AsyncIterator
from typing import Any

from inference.interface.answer import Answer, Chunk
from inference.interface.upstream import Attempt
from inference.routes.chat.bound import BoundedChat
from inference.routes.chat.stream import ChatFormat
from inference.vendors.demo.endpoint import TOKEN_SECONDS, DemoEndpoint
from inference.vendors.demo.prompt import read_prompt
from inference.vendors.demo.reply import Reply, reply_to


class DemoChat(DemoEndpoint[BoundedChat]):
    """Responds with `n` equal choices."""

    async def answer(self, attempt: Attempt[BoundedChat]) -> Answer:
        prompt = read_prompt(attempt.request.body)
        reply = reply_to(prompt, attempt.request.body)
        count = attempt.request.params.choices
        usage = _usage(prompt.tokens, reply, count)
        body = {
            "id": attempt.call.public_id,
            "object": "chat.completion",
            "created": int(time.time()),
            "model": attempt.call.public_model,
            "choices": [_choice(attempt, reply, index) for index in range(count)],
            "usage": usage,
        }
        return Answer(body, usage)

    def chunks(self, attempt: Attempt[BoundedChat]) -> AsyncIterator[Chunk]:
        prompt = read_prompt(attempt.request.body)
        reply = reply_to(prompt, attempt.request.body)
        pause_seconds = float(attempt.target.options.get("token_seconds", TOKEN_SECONDS))
        return _chunks(attempt, reply, _usage(prompt.tokens, reply, attempt.request.params.choices), pause_seconds)


async def _chunks(
    attempt: Attempt[BoundedChat], reply: Reply, usage: dict[str, Any], pause_seconds: float
) -> AsyncIterator[Chunk]:
    params = attempt.request.params
    events, choices = ChatFormat(attempt.call.public_model, attempt.call.public_id), range(params.choices)
    unknown: dict[str, Any] = {"usage": None} if params.show_usage else {}
    yield Chunk(events.event([_delta(index, _opening(attempt, reply, index)) for index in choices], **unknown))
    for piece in reply.pieces:
        for index in choices:
            await asyncio.sleep(pause_seconds)
            yield Chunk(events.event([_delta(index, _piece(reply, piece))], **unknown), 1, len(piece.encode()))
    yield Chunk(events.event([_delta(index, {}, reply.finish_reason) for index in choices], **unknown))
    yield Chunk(events.event([], usage=usage) if params.show_usage else b"", usage=usage)


def _usage(prompt_tokens: int, reply: Reply, choices: int) -> dict[str, Any]:
    """Build the usage object as the vendor's API does."""
    completion_tokens = len(reply.pieces) * choices
    return {
        "prompt_tokens": prompt_tokens,
        "completion_tokens": completion_tokens,
        "total_tokens": prompt_tokens + completion_tokens,
        "prompt_tokens_details": {"cached_tokens": 0},
    }


def _choice(attempt: Attempt[BoundedChat], reply: Reply, index: int) -> dict[str, Any]:
    text = "".join(reply.pieces)
    message: dict[str, Any] = {"role": "assistant", "content": None if reply.tool else text, "refusal": None}
    if reply.tool:
        message["tool_calls"] = [_tool_call(attempt, reply.tool, text, index)]
    return {"index": index, "message": message, "logprobs": None, "finish_reason": reply.finish_reason}


def _opening(attempt: Attempt[BoundedChat], reply: Reply, index: int) -> dict[str, Any]:
    if not reply.tool:
        return {"role": "assistant", "content": "", "refusal": None}
    call = {"index": 0, **_tool_call(attempt, reply.tool, "", index)}
    return {"role": "assistant", "content": None, "tool_calls": [call]}


def _tool_call(attempt: Attempt[BoundedChat], name: str, arguments: str, index: int) -> dict[str, Any]:
    """Build a tool call with an id that is unique across responses."""
    function = {"name": name, "arguments": arguments}
    return {"id": f"call_{attempt.call.public_id[-26:]}_{index}_0", "type": "function", "function": function}


def _piece(reply: Reply, piece: str) -> dict[str, Any]:
    return {"tool_calls": [{"index": 0, "function": {"arguments": piece}}]} if reply.tool else {"content": piece}


def _delta(index: int, delta: dict[str, Any], finish_reason: str | None = None) -> dict[str, Any]:
    return {"index": index, "delta": delta, "logprobs": None, "finish_reason": finish_reason}
