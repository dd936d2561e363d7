"""The responses API in the vendor's format: one body, or its named stream events."""

import time
from collections.abc import Iterator, Mapping
from typing import Any

from tests.support.upstream.answers import Answer
from tests.support.upstream.behaviours import HOST, Behaviour
from tests.support.upstream.stream import Frame
from tests.support.upstream.usage import ABSENT, Usage, of_input, report, tier_of, tiers_of, with_counted

ECHOED = ("instructions", "max_output_tokens", "previous_response_id", "temperature", "top_p", "reasoning", "text")
FAILED = {"code": "server_error", "message": f"The server {HOST} had an error."}
Named = tuple[str, dict[str, Any], int]


def usage_of(answer: Answer, behaviour: Behaviour) -> Usage:
    """Return the true usage of an output, with this API's names."""
    output_tokens = output_tokens_of(answer, behaviour)
    usage = {
        "input_tokens": answer.prompt_tokens,
        "input_tokens_details": of_input(behaviour),
        "output_tokens": output_tokens,
        "output_tokens_details": {"reasoning_tokens": behaviour.reasoning_tokens},
        "total_tokens": answer.prompt_tokens + output_tokens,
    }
    return with_counted(usage, behaviour)


def output_tokens_of(answer: Answer, behaviour: Behaviour) -> int:
    """Count the words of every item, and the reasoning tokens."""
    return answer.tokens * (behaviour.calls if answer.tool_call else 1) + behaviour.reasoning_tokens


def render(entry_id: str, body: Mapping[str, Any], answer: Answer, behaviour: Behaviour) -> Any:
    """Build the complete response object: completed, cut short by its output limit, or failed."""
    status = "incomplete" if answer.finish_reason == "length" else "failed" if behaviour.failed else "completed"
    response = _shell(entry_id, body, status)
    item_status = "completed" if status == "completed" else "incomplete"
    response["output"] = list(_items(entry_id, body, answer, behaviour, item_status))
    if status == "incomplete":
        response["incomplete_details"] = {"reason": "max_output_tokens"}
    if status == "failed":
        response["error"] = FAILED
    usage = report(usage_of(answer, behaviour), behaviour.usage)
    response["usage"] = None if usage is ABSENT else usage
    response["service_tier"] = tier_of(body, behaviour)
    return response


def stream(entry_id: str, body: Mapping[str, Any], answer: Answer, behaviour: Behaviour) -> Iterator[Frame]:
    """Return the events of a streamed response, in the vendor's order and numbering."""
    for number, (name, members, tokens) in enumerate(_events(entry_id, body, answer, behaviour)):
        event = {"type": name, "sequence_number": number, **members}
        yield Frame(event, tokens, name=name)


def _events(entry_id: str, body: Mapping[str, Any], answer: Answer, behaviour: Behaviour) -> Iterator[Named]:
    started = {**_shell(entry_id, body, "in_progress"), "service_tier": next(tiers_of(body, behaviour))}
    yield "response.created", {"response": started}, 0
    yield "response.in_progress", {"response": started}, 0
    index = 0
    if behaviour.reasoning_tokens:
        yield from _reasoned(_reasoning(entry_id, body), behaviour.reasoning_tokens)
        index = 1
    for number in range(behaviour.calls if answer.tool_call else 1):
        yield from _message_events(entry_id, body, answer, behaviour, index + number, number)
    whole = render(entry_id, body, answer, behaviour)
    yield f"response.{whole['status']}", {"response": whole}, 0


def _message_events(
    entry_id: str, body: Mapping[str, Any], answer: Answer, behaviour: Behaviour, index: int, number: int
) -> Iterator[Named]:
    empty = _item(entry_id, answer, behaviour, "", "in_progress", number)
    yield "response.output_item.added", {"output_index": index, "item": empty}, 0
    yield from _pieces({"item_id": empty["id"], "output_index": index}, body, answer, behaviour)
    status = "incomplete" if answer.finish_reason == "length" or behaviour.failed else "completed"
    item = _item(entry_id, answer, behaviour, _text(answer), status, number, body)
    yield "response.output_item.done", {"output_index": index, "item": item}, 0


def _reasoned(item: dict[str, Any], tokens: int) -> Iterator[Named]:
    at = {"item_id": item["id"], "output_index": 0, "summary_index": 0}
    [part] = item["summary"]
    yield "response.output_item.added", {"output_index": 0, "item": {**item, "summary": []}}, 0
    yield "response.reasoning_summary_part.added", {**at, "part": {**part, "text": ""}}, 0
    yield "response.reasoning_summary_text.delta", {**at, "delta": part["text"]}, 0
    yield "response.reasoning_summary_text.done", {**at, "text": part["text"]}, 0
    yield "response.reasoning_summary_part.done", {**at, "part": part}, 0
    yield "response.output_item.done", {"output_index": 0, "item": item}, tokens


def _pieces(place: dict[str, Any], body: Mapping[str, Any], answer: Answer, behaviour: Behaviour) -> Iterator[Named]:
    if answer.tool_call:
        prefix = "response.function_call_arguments"
        for position in range(answer.tokens):
            yield f"{prefix}.delta", {**place, "delta": answer.word(position)}, 1
        whole = {"arguments": answer.tool_call.arguments, "name": answer.tool_call.name}
        yield f"{prefix}.done", {**place, **whole}, 0
        return
    place["content_index"] = 0
    member, name = ("refusal", "refusal") if behaviour.refusal else ("text", "output_text")
    extra: dict[str, Any] = {} if behaviour.refusal else {"logprobs": []}
    yield "response.content_part.added", {**place, "part": _part("", behaviour)}, 0
    for position in range(answer.tokens):
        yield f"response.{name}.delta", {**place, "delta": answer.word(position), **extra}, 1
    text = _text(answer)
    yield f"response.{name}.done", {**place, member: text, **extra}, 0
    yield "response.content_part.done", {**place, "part": _part(text, behaviour, body)}, 0


def _shell(entry_id: str, body: Mapping[str, Any], status: str) -> dict[str, Any]:
    return {
        "id": entry_id,
        "object": "response",
        "created_at": int(time.time()),
        "status": status,
        "error": None,
        "incomplete_details": None,
        "model": body["model"],
        "output": [],
        "parallel_tool_calls": body.get("parallel_tool_calls", True),
        "store": body.get("store", True),
        "tool_choice": body.get("tool_choice", "auto"),
        "tools": body.get("tools", []),
        "metadata": body.get("metadata") or {},
        "truncation": body.get("truncation", "disabled"),
        "billing": {"payer": "upstream-owner"},
        "usage": None,
        **{name: body.get(name) for name in ECHOED},
    }


def _items(
    entry_id: str, body: Mapping[str, Any], answer: Answer, behaviour: Behaviour, status: str
) -> Iterator[dict[str, Any]]:
    if behaviour.reasoning_tokens:
        yield _reasoning(entry_id, body)
    for number in range(behaviour.calls if answer.tool_call else 1):
        yield _item(entry_id, answer, behaviour, _text(answer), status, number, body)


def _text(answer: Answer) -> str:
    return answer.tool_call.arguments if answer.tool_call else "".join(answer.words())


def _reasoning(entry_id: str, body: Mapping[str, Any]) -> dict[str, Any]:
    item: dict[str, Any] = {
        "id": f"rs_{entry_id}",
        "type": "reasoning",
        "summary": [{"type": "summary_text", "text": "Thinking of badgers."}],
    }
    if "reasoning.encrypted_content" in (body.get("include") or ()):
        item["encrypted_content"] = "gAAAA-thoughts"
    return item


def _item(
    entry_id: str,
    answer: Answer,
    behaviour: Behaviour,
    text: str,
    status: str,
    number: int,
    body: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    if answer.tool_call:
        return {
            "id": f"fc_{entry_id}-{number}",
            "type": "function_call",
            "status": status,
            "call_id": f"call_{entry_id}-{number}",
            "name": answer.tool_call.name,
            "arguments": text,
        }
    return {
        "id": f"msg_{entry_id}",
        "type": "message",
        "status": status,
        "role": "assistant",
        "content": [_part(text, behaviour, body)] if text or status != "in_progress" else [],
    }


def _part(text: str, behaviour: Behaviour, body: Mapping[str, Any] | None = None) -> dict[str, Any]:
    if behaviour.refusal:
        return {"type": "refusal", "refusal": text}
    shows_logprobs = body is not None and "message.output_text.logprobs" in (body.get("include") or ())
    logprobs = (
        [{"token": text, "bytes": list(text.encode()), "logprob": -0.5, "top_logprobs": []}] if shows_logprobs else []
    )
    return {"type": "output_text", "text": text, "annotations": [], "logprobs": logprobs}
