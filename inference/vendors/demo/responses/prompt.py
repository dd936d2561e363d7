"""Converts a response request to a chat request for the demo backend."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from inference.routes.responses.items import Item


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
