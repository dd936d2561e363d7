"""Generates the demo backend's reply to a chat request: text, JSON, or a tool call. Deterministic."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import orjson

from inference.vendors.demo.prompt import Prompt
from inference.vendors.demo.schema import value_for
from inference.vendors.demo.tokens import pieces_of

_QUOTED_CHARACTERS = 160
_NOTE = "This is the gateway's demo backend: no model was asked."


@dataclass(frozen=True, slots=True)
class Reply:
    """The tokens of an answer, within its limit. `tool` names the function whose arguments they are, `stop` the stop sequence before
    which the answer ends."""

    pieces: list[str]
    finish_reason: str
    tool: str | None = None
    stop: str | None = None


def reply_to(prompt: Prompt, body: Mapping[str, Any]) -> Reply:
    """Generate a reply, within the client's token limit and up to its first stop sequence."""
    if function := _function_to_call(prompt, body):
        return _within_limit(_arguments(function), body, "tool_calls", function["name"])
    text, stop = _stopped(_text(prompt, body), body.get("stop"))
    return _within_limit(text, body, "stop", stop=stop)


def _within_limit(
    text: str, body: Mapping[str, Any], finish_reason: str, tool: str | None = None, stop: str | None = None
) -> Reply:
    pieces = pieces_of(text)
    limit = body.get("max_completion_tokens", body.get("max_tokens"))
    if isinstance(limit, int) and len(pieces) > limit:
        return Reply(pieces[:limit], "length", tool)
    return Reply(pieces, finish_reason, tool, stop)


def _text(prompt: Prompt, body: Mapping[str, Any]) -> str:
    response_format = body.get("response_format") or {}
    match response_format.get("type"):
        case "json_schema":
            return _dump(value_for(response_format["json_schema"].get("schema") or {}))
        case "json_object":
            return _dump({"backend": "demo", "note": _NOTE, "you_wrote": _quoted(prompt.last_text)})
    if prompt.last_role == "tool":
        return f"{_NOTE} The tool answered “{_quoted(prompt.last_text)}”. A real model would put that into words."
    return (
        f"{_NOTE} You wrote “{_quoted(prompt.last_text)}”. The answer is the same for the same request, and every token "
        "of it is metered like any other: held before it was sent, charged as it was used. Configure an upstream to "
        "hear from a real model."
    )


def _function_to_call(prompt: Prompt, body: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """Return the function that the request names, the first if one is required, or one that the text mentions."""
    functions = [tool["function"] for tool in body.get("tools") or () if tool.get("type") == "function"]
    choice = body.get("tool_choice") or "auto"
    if isinstance(choice, Mapping):
        named = choice.get("function", {}).get("name")
        return next((function for function in functions if function["name"] == named), None)
    if choice == "required":
        return functions[0] if functions else None
    if choice == "none" or prompt.last_role == "tool":
        return None
    return next((function for function in functions if _is_mentioned(function["name"], prompt.last_text)), None)


def _is_mentioned(name: str, text: str) -> bool:
    lowered = text.lower()
    return name.lower() in lowered or name.lower().replace("_", " ").replace("-", " ") in lowered


def _arguments(function: Mapping[str, Any]) -> str:
    return _dump(value_for(function.get("parameters") or {"type": "object"}))


def _stopped(text: str, stop: Any) -> tuple[str, str | None]:
    """Cut the text before the first of its stop sequences, and return that, too."""
    first = None
    for sequence in [stop] if isinstance(stop, str) else stop or ():
        if sequence and sequence in text:
            text, first = text.partition(sequence)[0], sequence
    return text, first


def _quoted(text: str) -> str:
    words = " ".join(text.split())
    return words if len(words) <= _QUOTED_CHARACTERS else f"{words[:_QUOTED_CHARACTERS]}…"


def _dump(value: Any) -> str:
    return orjson.dumps(value).decode()
