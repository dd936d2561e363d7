"""Responses of the demo backend, complete or word by word, slowly enough to watch."""

import asyncio
import time
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from typing import Any

from inference.interface.answer import Answer, Chunk
from inference.interface.upstream import Attempt
from inference.routes.responses.bound import BoundedResponse
from inference.routes.responses.echo import echo
from inference.routes.responses.events import OUTPUT_DELTAS, TERMINAL, events_of, render
from inference.routes.responses.items import Item
from inference.vendors.demo.endpoint import TOKEN_SECONDS, DemoEndpoint
from inference.vendors.demo.prompt import read_prompt
from inference.vendors.demo.reply import Reply, reply_to
from inference.vendors.demo.tokens import pieces_of


class DemoResponses(DemoEndpoint[BoundedResponse]):
    """Responds with one item: a message, or a function call."""

    async def answer(self, attempt: Attempt[BoundedResponse]) -> Answer:
        response = _response(attempt)
        return Answer(response, response["usage"])

    def chunks(self, attempt: Attempt[BoundedResponse]) -> AsyncIterator[Chunk]:
        pause_seconds = float(attempt.target.options.get("token_seconds", TOKEN_SECONDS))
        return _chunks(_response(attempt), pause_seconds)


async def _chunks(response: dict[str, Any], pause_seconds: float) -> AsyncIterator[Chunk]:
    for event in events_of(response, pieces_of):
        if event["type"] in TERMINAL:
            yield Chunk(b"", usage=response["usage"], events=(event,))
        elif event["type"] in OUTPUT_DELTAS:
            await asyncio.sleep(pause_seconds)
            yield Chunk(render(event), 1, len(event["delta"].encode()), events=(event,))
        else:
            yield Chunk(render(event), events=(event,))


def _response(attempt: Attempt[BoundedResponse]) -> dict[str, Any]:
    request = attempt.request
    chat = as_chat(request.body, request.params.items)
    prompt = read_prompt(chat)
    reply = reply_to(prompt, chat)
    is_cut = reply.finish_reason == "length"
    return {
        "id": attempt.call.public_id,
        "object": "response",
        "created_at": int(time.time()),
        "status": "incomplete" if is_cut else "completed",
        "error": None,
        "incomplete_details": {"reason": "max_output_tokens"} if is_cut else None,
        "model": attempt.call.public_model,
        "output": [_item(attempt.call.public_id, reply, "incomplete" if is_cut else "completed")],
        **echo(request),
        "usage": _usage(prompt.tokens, len(reply.pieces)),
    }


def _item(public_id: str, reply: Reply, status: str) -> dict[str, Any]:
    unique, text = public_id[-26:], "".join(reply.pieces)
    if reply.tool:
        call = {"call_id": f"call_{unique}_0", "name": reply.tool, "arguments": text}
        return {"id": f"fc_{unique}_0", "type": "function_call", "status": status, **call}
    part = {"type": "output_text", "text": text, "annotations": [], "logprobs": []}
    return {"id": f"msg_{unique}_0", "type": "message", "status": status, "role": "assistant", "content": [part]}


def _usage(input_tokens: int, output_tokens: int) -> dict[str, Any]:
    """Build the usage object as the vendor's API does."""
    return {
        "input_tokens": input_tokens,
        "input_tokens_details": {"cached_tokens": 0},
        "output_tokens": output_tokens,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": input_tokens + output_tokens,
    }


def as_chat(body: Mapping[str, Any], items: Sequence[Item]) -> dict[str, Any]:
    """Build an equivalent chat body, as far as the demo backend uses it."""
    messages = [{"role": "system", "content": body["instructions"]}] if body.get("instructions") else []
    chat = {
        "messages": [*messages, *_messages(items)],
        "tools": [_tool(tool) for tool in body.get("tools") or ()],
        "tool_choice": _choice(body.get("tool_choice")),
        "response_format": _format((body.get("text") or {}).get("format") or {}),
        "max_completion_tokens": body.get("max_output_tokens"),
    }
    return {name: value for name, value in chat.items() if value}


def _messages(items: Sequence[Item]) -> Iterator[dict[str, Any]]:
    for item in items:
        match item.get("type") or "message":
            case "message":
                yield {"role": item["role"], "content": item["content"]}
            case "function_call" | "custom_tool_call":
                call = {"name": item.get("name"), "arguments": item.get("arguments", item.get("input"))}
                yield {"role": "assistant", "content": None, "tool_calls": [{"type": "function", "function": call}]}
            case "function_call_output" | "custom_tool_call_output":
                yield {"role": "tool", "content": item["output"]}


def _tool(tool: Mapping[str, Any]) -> dict[str, Any]:
    return {"type": tool["type"], "function": dict(tool)}


def _choice(choice: Any) -> Any:
    if isinstance(choice, Mapping) and choice.get("type") == "function":
        return {"type": "function", "function": {"name": choice.get("name")}}
    return choice if isinstance(choice, str) else None


def _format(text_format: Mapping[str, Any]) -> dict[str, Any] | None:
    match text_format.get("type"):
        case "json_schema":
            return {"type": "json_schema", "json_schema": dict(text_format)}
        case "json_object":
            return {"type": "json_object"}
    return None
