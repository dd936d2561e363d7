"""A chat completion word by word, slowly enough to watch."""

import asyncio
from collections.abc import Iterator
from typing import Any, ClassVar, Self

import orjson

from gateway.contract.errors import ApiError
from inference.adapters import chat_events
from inference.adapters.base import Attempt, Chunk
from inference.adapters.demo.chat import call_id, usage_of
from inference.adapters.demo.prompt import read_prompt
from inference.adapters.demo.reply import Reply, reply_to
from inference.adapters.sse import event_bytes

TOKEN_SECONDS = 0.02


class DemoChatStream:
    """Streams one token an event. An upstream row's option `token_seconds` sets the pause before each."""

    terminator: ClassVar[bytes] = chat_events.TERMINATOR

    def __init__(self, attempt: Attempt) -> None:
        self._attempt = attempt
        self._prompt = read_prompt(attempt.body)
        self._reply = reply_to(self._prompt, attempt.body)
        self._pause_seconds = float(attempt.target.options.get("token_seconds", TOKEN_SECONDS))
        self._chunks = self._all_chunks()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Chunk:
        chunk = next(self._chunks, None)
        if chunk is None:
            raise StopAsyncIteration
        if chunk.output_deltas:
            await asyncio.sleep(self._pause_seconds)
        return chunk

    async def close(self) -> None:
        """Say nothing more."""
        self._chunks = iter(())

    def error_event(self, error: ApiError, request_id: str) -> bytes:
        """Render an error as an event of this stream."""
        return chat_events.error_event(error, request_id)

    def cut_event(self) -> bytes:
        """Render the end of a stream that reached its output limit."""
        return chat_events.cut_event(self._attempt)

    def _all_chunks(self) -> Iterator[Chunk]:
        choices = range(chat_events.choices_asked(self._attempt))
        yield self._event([_delta(index, self._opening(index)) for index in choices])
        for piece in self._reply.pieces:
            for index in choices:
                yield self._event([_delta(index, _said(self._reply, piece))], len(piece.encode()))
        yield self._event([_delta(index, {}, self._reply.finish_reason) for index in choices])
        yield self._usage_event(len(choices))

    def _opening(self, index: int) -> dict[str, Any]:
        if not self._reply.tool:
            return {"role": "assistant", "content": "", "refusal": None}
        function = {"name": self._reply.tool, "arguments": ""}
        call = {"index": 0, "id": call_id(self._attempt, index), "type": "function", "function": function}
        return {"role": "assistant", "content": None, "tool_calls": [call]}

    def _event(self, choices: list[dict[str, Any]], output_bytes: int = 0) -> Chunk:
        event = {**chat_events.envelope(self._attempt), "choices": choices}
        if self._attempt.show_usage:
            event["usage"] = None
        return Chunk(event_bytes(orjson.dumps(event)), int(output_bytes > 0), output_bytes)

    def _usage_event(self, choices: int) -> Chunk:
        usage = usage_of(self._prompt.tokens, self._reply, choices)
        event = {**chat_events.envelope(self._attempt), "choices": [], "usage": usage}
        return Chunk(event_bytes(orjson.dumps(event)) if self._attempt.show_usage else b"", usage=usage)


def _said(reply: Reply, piece: str) -> dict[str, Any]:
    return {"tool_calls": [{"index": 0, "function": {"arguments": piece}}]} if reply.tool else {"content": piece}


def _delta(index: int, delta: dict[str, Any], finish_reason: str | None = None) -> dict[str, Any]:
    return {"index": index, "delta": delta, "logprobs": None, "finish_reason": finish_reason}
