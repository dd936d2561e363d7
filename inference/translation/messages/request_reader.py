"""Reads a Messages request."""

from collections.abc import Mapping
from typing import Any

from inference.translation import fields
from inference.translation.conversation import Conversation, Form, Function, TextFormat, ToolChoice
from inference.translation.messages.block_reader import MARKS, read_messages, read_texts

FIELDS: Mapping[str, str] = {
    "messages": "items",
    "system": "instructions",
    "max_tokens": "output_limit",
    "stop_sequences": "stop",
    "output_config": "text_format",
    "thinking": "effort",
}
"""The conversation fields of the members whose names are specific to this format."""

CHOICES = {"auto": "auto", "any": "required", "none": "none"}

BUDGETS = ((4096, "low"), (16384, "medium"))
"""Budgets of thinking, in tokens, below which it is this effort; a larger one is high."""

_READ = {*FIELDS, "tools", "tool_choice", "metadata", "temperature", "top_p", "service_tier", "cache_control"}
_STANDARD = ("speed", "standard")
_CLEARS_THINKING = "clear_thinking_20251015"
_ALL = ("all", {"type": "all"})
_THE_CALLS = {"model", "stream"}
"""Members about the call itself, which are not part of the conversation."""


def read_request(body: Mapping[str, Any]) -> Conversation:
    """Read a Messages request. Raises InvalidRequest with the member at fault."""
    choice, is_serial = _tool_choice(body)
    shared = {name: body[name] for name in ("temperature", "top_p") if body.get(name) is not None}
    return Conversation(
        form=Form.MESSAGES,
        items=tuple(read_messages(body)),
        instructions="\n\n".join(read_texts(body, "system")) or None,
        tools=tuple(_function(tool, path) for path, tool in fields.objects_in(body, "tools")),
        tool_choice=choice,
        text_format=_text_format(body),
        effort=_effort(body),
        output_limit=fields.read_optional_count(body, "max_tokens"),
        stop=_stop(body),
        shared={**shared, **_tier(body), **_user(body), **({"parallel_tool_calls": False} if is_serial else {})},
        particular={
            name: value
            for name, value in body.items()
            if name not in _READ and name not in _THE_CALLS and value is not None and not _says_nothing(name, value)
        },
    )


def _says_nothing(name: str, value: Any) -> bool:
    """Return whether a member of this format asks for what happens anyway."""
    if name != "context_management":
        return (name, value) == _STANDARD
    edits = fields.read_optional_object({name: value}, name) or {}
    fields.refuse_others(edits, {"edits"}, name)
    listed = [edit for _, edit in fields.objects_in(edits, "edits", name)]
    return all(edit.get("type") == _CLEARS_THINKING and edit.get("keep") in _ALL for edit in listed)


def _function(tool: Mapping[str, Any], path: str) -> Function:
    if tool.get("type") not in (None, "custom"):
        raise fields.unsupported(fields.joined(path, "type"))
    known = {"type", "name", "description", "input_schema", "strict", "eager_input_streaming", *MARKS}
    fields.refuse_others(tool, known, path)
    return Function(
        fields.read_text(tool, "name", path),
        fields.read_optional_text(tool, "description", path),
        fields.read_object(tool, "input_schema", path),
        fields.read_optional_flag(tool, "strict", path) or False,  # this format's default
    )


def _tool_choice(body: Mapping[str, Any]) -> tuple[ToolChoice | None, bool]:
    """Read which tools may be called, and whether at most one at a time."""
    choice = fields.read_optional_object(body, "tool_choice")
    if choice is None:
        return None, False
    fields.refuse_others(choice, {"type", "name", "disable_parallel_tool_use"}, "tool_choice")
    is_serial = fields.read_optional_flag(choice, "disable_parallel_tool_use", "tool_choice") or False
    kind = fields.read_text(choice, "type", "tool_choice")
    if kind == "tool":
        return ToolChoice("required", forced=fields.read_text(choice, "name", "tool_choice")), is_serial
    if kind not in CHOICES:
        raise fields.expected("tool_choice.type", "auto, any, tool or none")
    return ToolChoice(CHOICES[kind]), is_serial


def _text_format(body: Mapping[str, Any]) -> TextFormat | None:
    config = fields.read_optional_object(body, "output_config") or {}
    fields.refuse_others(config, {"format", "effort"}, "output_config")
    shape = fields.read_optional_object(config, "format", "output_config")
    if shape is None:
        return None
    path = "output_config.format"
    fields.refuse_others(shape, {"type", "schema"}, path)
    if shape.get("type") != "json_schema":
        raise fields.unsupported(f"{path}.type")
    return TextFormat("json_schema", name="answer", schema=fields.read_object(shape, "schema", path), strict=True)


def _effort(body: Mapping[str, Any]) -> str | None:
    config = fields.read_optional_object(body, "output_config") or {}
    effort = fields.read_optional_text(config, "effort", "output_config")
    thinking = fields.read_optional_object(body, "thinking")
    if effort is not None or thinking is None:
        return effort
    fields.refuse_others(thinking, {"type", "budget_tokens", "display"}, "thinking")
    if thinking.get("type") != "enabled":
        return None
    budget = fields.read_optional_count(thinking, "budget_tokens", "thinking") or 0
    return next((effort for most, effort in BUDGETS if budget < most), "high")


def _stop(body: Mapping[str, Any]) -> tuple[str, ...]:
    texts = body.get("stop_sequences")
    if texts is None:
        return ()
    if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
        raise fields.expected("stop_sequences", "a list of texts")
    return tuple(texts)


def _tier(body: Mapping[str, Any]) -> dict[str, str]:
    tier = fields.read_optional_text(body, "service_tier")
    if tier is None:
        return {}
    return {"service_tier": "default" if tier in ("auto", "standard_only") else tier}


def _user(body: Mapping[str, Any]) -> dict[str, str]:
    metadata = fields.read_optional_object(body, "metadata") or {}
    fields.refuse_others(metadata, {"user_id"}, "metadata")
    user = fields.read_optional_text(metadata, "user_id", "metadata")
    return {} if user is None else {"user": user}
