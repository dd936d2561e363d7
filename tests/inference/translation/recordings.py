"""Streams in the vendor's documented shapes, the same answers in both forms."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

Json = dict[str, Any]

_CHAT = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1795256076, "model": "small-1"}
_SHELL: Json = {
    "id": "resp_1",
    "object": "response",
    "created_at": 1795256076,
    "model": "small-1",
    "error": None,
    "incomplete_details": None,
    "instructions": None,
    "metadata": {},
    "parallel_tool_calls": True,
    "tool_choice": "auto",
    "tools": [],
    "temperature": 1.0,
    "top_p": 1.0,
}
TOKEN = {"token": "Hello", "logprob": -0.25, "bytes": [72, 101, 108, 108, 111], "top_logprobs": []}


@dataclass(frozen=True)
class Recording:
    """One answer as both forms stream it."""

    chat: list[Json]
    responses: list[Json]


def chunk(delta: Mapping[str, Any], finish_reason: str | None = None, logprobs: Any = None) -> Json:
    choice = {"index": 0, "delta": delta, "logprobs": logprobs, "finish_reason": finish_reason}
    return {**_CHAT, "service_tier": "default", "choices": [choice], "usage": None}


def chat_usage(reasoning_tokens: int = 0) -> Json:
    usage = {
        "prompt_tokens": 20,
        "completion_tokens": 9,
        "total_tokens": 29,
        "prompt_tokens_details": {"cached_tokens": 16, "cache_write_tokens": 0},
        "completion_tokens_details": {"reasoning_tokens": reasoning_tokens},
    }
    return {**_CHAT, "choices": [], "usage": usage}


def numbered(events: list[Json]) -> list[Json]:
    return [{**event, "sequence_number": number} for number, event in enumerate(events)]


def response(output: list[Json], reason: str | None = None, reasoning_tokens: int = 0) -> Json:
    usage = {
        "input_tokens": 20,
        "input_tokens_details": {"cached_tokens": 16, "cache_write_tokens": 0},
        "output_tokens": 9,
        "output_tokens_details": {"reasoning_tokens": reasoning_tokens},
        "total_tokens": 29,
    }
    status = "incomplete" if reason else "completed"
    details = {"reason": reason} if reason else None
    whole = {**_SHELL, "status": status, "incomplete_details": details, "output": output, "usage": usage}
    return {"type": f"response.{status}", "response": whole}


def opening() -> list[Json]:
    started = {**_SHELL, "status": "in_progress", "output": [], "usage": None}
    return [{"type": f"response.{state}", "response": started} for state in ("created", "in_progress")]


def message(
    index: int, deltas: list[str], *, refuses: bool = False, status: str = "completed", logprobs: Any = ()
) -> tuple[list[Json], Json]:
    """Return the events of a message of one part, and the message."""
    name, kind = ("refusal", "refusal") if refuses else ("text", "output_text")
    shell = {"id": f"msg_{index}", "type": "message", "role": "assistant"}
    tail: Json = {} if refuses else {"logprobs": list(logprobs)}
    part = {"type": kind, name: "".join(deltas), **({} if refuses else {"annotations": [], **tail})}
    place = {"item_id": shell["id"], "output_index": index, "content_index": 0}
    empty = {**part, name: "", **({} if refuses else {"logprobs": []})}
    item = {**shell, "status": status, "content": [part]}
    written = [{"type": f"response.{kind}.delta", **place, "delta": delta, **tail} for delta in deltas]
    events = [
        {
            "type": "response.output_item.added",
            "output_index": index,
            "item": {**shell, "status": "in_progress", "content": []},
        },
        {"type": "response.content_part.added", **place, "part": empty},
        *written,
        {"type": f"response.{kind}.done", **place, name: "".join(deltas), **tail},
        {"type": "response.content_part.done", **place, "part": part},
        {"type": "response.output_item.done", "output_index": index, "item": item},
    ]
    return events, item


def call(index: int, name: str, deltas: list[str]) -> tuple[list[Json], Json]:
    """Return the events of a function call, and the call."""
    item = {"id": f"fc_{index}", "type": "function_call", "call_id": f"call_{index}", "name": name}
    arguments, place = "".join(deltas), {"item_id": item["id"], "output_index": index}
    whole = {**item, "status": "completed", "arguments": arguments}
    kind = "response.function_call_arguments"
    events = [
        {
            "type": "response.output_item.added",
            "output_index": index,
            "item": {**item, "status": "in_progress", "arguments": ""},
        },
        *({"type": f"{kind}.delta", **place, "delta": delta} for delta in deltas),
        {"type": f"{kind}.done", **place, "name": name, "arguments": arguments},
        {"type": "response.output_item.done", "output_index": index, "item": whole},
    ]
    return events, whole


def thought(deltas: list[str]) -> tuple[list[Json], Json]:
    """Return the events of a reasoning item with text, and the item."""
    shell = {"id": "rs_0", "type": "reasoning", "summary": []}
    place = {"item_id": "rs_0", "output_index": 0, "content_index": 0}
    part = {"type": "reasoning_text", "text": "".join(deltas)}
    item = {**shell, "status": "completed", "content": [part]}
    events = [
        {
            "type": "response.output_item.added",
            "output_index": 0,
            "item": {**shell, "status": "in_progress", "content": []},
        },
        {"type": "response.content_part.added", **place, "part": {**part, "text": ""}},
        *({"type": "response.reasoning_text.delta", **place, "delta": delta} for delta in deltas),
        {"type": "response.reasoning_text.done", **place, "text": part["text"]},
        {"type": "response.content_part.done", **place, "part": part},
        {"type": "response.output_item.done", "output_index": 0, "item": item},
    ]
    return events, item


def called(index: int, **function: str) -> Json:
    begun = {"id": f"call_{index}", "type": "function"} if "name" in function else {}
    return chunk({"tool_calls": [{"index": index, **begun, "function": function}]})


def _streamed(*items: tuple[list[Json], Json], reason: str | None = None, reasoning_tokens: int = 0) -> list[Json]:
    events = [event for each, _ in items for event in each]
    last = response([item for _, item in items], reason, reasoning_tokens)
    return numbered([*opening(), *events, last])


_OPENING = chunk({"role": "assistant", "content": "", "refusal": None})
_TEXT = ["Hello", " wörld", " \U0001f30d"]
_ANSWER = ['{"city":', '"Rome"}']
_MORE = ['{"city":', '"Bern"}']

RECORDINGS: dict[str, Recording] = {
    "text": Recording(
        [_OPENING, *(chunk({"content": text}) for text in _TEXT), chunk({}, "stop"), chat_usage()],
        _streamed(message(0, _TEXT)),
    ),
    "nothing": Recording([_OPENING, chunk({}, "stop"), chat_usage()], _streamed()),
    "structured": Recording(
        [_OPENING, *(chunk({"content": text}) for text in _ANSWER), chunk({}, "stop"), chat_usage()],
        _streamed(message(0, _ANSWER)),
    ),
    "refusal": Recording(
        [_OPENING, chunk({"refusal": "I must"}), chunk({"refusal": " not."}), chunk({}, "stop"), chat_usage()],
        _streamed(message(0, ["I must", " not."], refuses=True)),
    ),
    "calls": Recording(
        [
            _OPENING,
            chunk({"content": "Wait."}),
            called(0, name="weather", arguments=""),
            *(called(0, arguments=text) for text in _ANSWER),
            called(1, name="weather", arguments=""),
            *(called(1, arguments=text) for text in _MORE),
            chunk({}, "tool_calls"),
            chat_usage(),
        ],
        _streamed(message(0, ["Wait."]), call(1, "weather", _ANSWER), call(2, "weather", _MORE)),
    ),
    "reasoning": Recording(
        [
            _OPENING,
            chunk({"reasoning_content": "Hm,"}),
            chunk({"reasoning_content": " yes."}),
            chunk({"content": "Hello"}),
            chunk({}, "stop"),
            chat_usage(reasoning_tokens=5),
        ],
        _streamed(thought(["Hm,", " yes."]), message(1, ["Hello"]), reasoning_tokens=5),
    ),
    "length": Recording(
        [_OPENING, chunk({"content": _ANSWER[0]}), chunk({}, "length"), chat_usage()],
        _streamed(message(0, _ANSWER[:1], status="incomplete"), reason="max_output_tokens"),
    ),
    "filter": Recording(
        [_OPENING, chunk({"content": _ANSWER[0]}), chunk({}, "content_filter"), chat_usage()],
        _streamed(message(0, _ANSWER[:1], status="incomplete"), reason="content_filter"),
    ),
    "logprobs": Recording(
        [
            _OPENING,
            chunk({"content": "Hello"}, None, {"content": [TOKEN], "refusal": None}),
            chunk({}, "stop"),
            chat_usage(),
        ],
        _streamed(message(0, ["Hello"], logprobs=[TOKEN])),
    ),
}
"""The same answers, each as both forms stream it."""


def whole_chat(recording: Recording) -> Json:
    """Return the completion that a recording's chunks add up to."""
    message: Json = {"role": "assistant", "content": None, "refusal": None}
    tokens: list[Json] = []
    calls: list[Json] = []
    for each in recording.chat[:-1]:
        choice = each["choices"][0]
        for name in ("content", "refusal", "reasoning_content"):
            if text := choice["delta"].get(name):
                message[name] = (message.get(name) or "") + text
        for called in choice["delta"].get("tool_calls", ()):
            if "id" in called:
                calls.append({"id": called["id"], "type": "function", "function": dict(called["function"])})
            else:
                calls[-1]["function"]["arguments"] += called["function"]["arguments"]
        tokens += (choice["logprobs"] or {}).get("content", [])
    if calls:
        message["tool_calls"] = calls
    logprobs = {"content": tokens, "refusal": None} if tokens else None
    reason = recording.chat[-2]["choices"][0]["finish_reason"]
    choice = {"index": 0, "message": message, "logprobs": logprobs, "finish_reason": reason}
    return {**_CHAT, "object": "chat.completion", "choices": [choice], "usage": recording.chat[-1]["usage"]}
