"""The responses API as the vendor shapes it: one body, or its named stream events."""

import time
from collections.abc import Iterator, Mapping
from typing import Any

from tests.support.upstream.answers import Answer
from tests.support.upstream.behaviours import Behaviour
from tests.support.upstream.stream import Frame
from tests.support.upstream.usage import ABSENT, Usage, report


def usage_of(answer: Answer, behaviour: Behaviour) -> Usage:
    """State truly what an answer cost, in this API's names."""
    return {
        "input_tokens": answer.prompt_tokens,
        "input_tokens_details": {"cached_tokens": behaviour.cached_tokens},
        "output_tokens": answer.tokens,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": answer.prompt_tokens + answer.tokens,
    }


def render(entry_id: str, body: Mapping[str, Any], answer: Answer, behaviour: Behaviour) -> Any:
    """Build the whole response object, completed or cut short by its output limit."""
    status = "incomplete" if answer.finish_reason == "length" else "completed"
    response = _shell(entry_id, body, status)
    response["output"] = [_item(entry_id, answer, "".join(answer.words()), status)]
    if status == "incomplete":
        response["incomplete_details"] = {"reason": "max_output_tokens"}
    usage = report(usage_of(answer, behaviour), behaviour.usage)
    response["usage"] = None if usage is ABSENT else usage
    return response


def stream(entry_id: str, body: Mapping[str, Any], answer: Answer, behaviour: Behaviour) -> Iterator[Frame]:
    """Give the events of a streamed response, in the vendor's order and numbering."""
    for number, (name, members, tokens) in enumerate(_events(entry_id, body, answer, behaviour)):
        event = {"type": name, "sequence_number": number, **members}
        yield Frame(event, tokens, name=name)


def _events(
    entry_id: str, body: Mapping[str, Any], answer: Answer, behaviour: Behaviour
) -> Iterator[tuple[str, dict[str, Any], int]]:
    started = _shell(entry_id, body, "in_progress")
    empty = _item(entry_id, answer, "", "in_progress")
    yield "response.created", {"response": started}, 0
    yield "response.in_progress", {"response": started}, 0
    yield "response.output_item.added", {"output_index": 0, "item": empty}, 0
    yield from _pieces(empty["id"], answer)
    whole = render(entry_id, body, answer, behaviour)
    yield "response.output_item.done", {"output_index": 0, "item": whole["output"][0]}, 0
    yield f"response.{whole['status']}", {"response": whole}, 0


def _pieces(item_id: str, answer: Answer) -> Iterator[tuple[str, dict[str, Any], int]]:
    place = {"item_id": item_id, "output_index": 0}
    if answer.tool_call:
        prefix = "response.function_call_arguments"
        for position in range(answer.tokens):
            yield f"{prefix}.delta", {**place, "delta": answer.word(position)}, 1
        whole = {"arguments": answer.tool_call.arguments, "name": answer.tool_call.name}
        yield f"{prefix}.done", {**place, **whole}, 0
        return
    place["content_index"] = 0
    yield "response.content_part.added", {**place, "part": _part("")}, 0
    for position in range(answer.tokens):
        delta = {"delta": answer.word(position), "logprobs": []}
        yield "response.output_text.delta", {**place, **delta}, 1
    text = "".join(answer.words())
    yield "response.output_text.done", {**place, "text": text, "logprobs": []}, 0
    yield "response.content_part.done", {**place, "part": _part(text)}, 0


def _shell(entry_id: str, body: Mapping[str, Any], status: str) -> dict[str, Any]:
    asked = ("instructions", "max_output_tokens", "previous_response_id", "temperature", "top_p")
    return {
        "id": entry_id,
        "object": "response",
        "created_at": int(time.time()),
        "status": status,
        "error": None,
        "incomplete_details": None,
        "model": body["model"],
        "output": [],
        "parallel_tool_calls": True,
        "store": body.get("store", True),
        "tool_choice": body.get("tool_choice", "auto"),
        "tools": body.get("tools", []),
        "metadata": body.get("metadata") or {},
        "usage": None,
        **{name: body.get(name) for name in asked},
    }


def _item(entry_id: str, answer: Answer, text: str, status: str) -> dict[str, Any]:
    if answer.tool_call:
        return {
            "id": f"fc_{entry_id}",
            "type": "function_call",
            "status": status,
            "call_id": f"call_{entry_id}",
            "name": answer.tool_call.name,
            "arguments": text,
        }
    content = [_part(text)] if text or status != "in_progress" else []
    return {
        "id": f"msg_{entry_id}",
        "type": "message",
        "status": status,
        "role": "assistant",
        "content": content,
    }


def _part(text: str) -> dict[str, Any]:
    return {"type": "output_text", "text": text, "annotations": [], "logprobs": []}
