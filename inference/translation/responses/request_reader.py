"""Reads a responses request, whose input already includes its earlier responses."""

from collections.abc import Mapping
from typing import Any

from inference.translation import fields
from inference.translation.conversation import SHARED, Conversation, Form, Function, TextFormat
from inference.translation.responses.item_reader import read_input
from inference.translation.tool_choice import read_tool_choice

LOGPROBS = "message.output_text.logprobs"

FIELDS: Mapping[str, str] = {
    "input": "items",
    "instructions": "items",
    "text": "text_format",
    "reasoning": "effort",
    "max_output_tokens": "output_limit",
    "include": "top_logprobs",
}
"""The conversation fields of the members whose names are specific to this format."""

_SAYS_NOTHING: Mapping[str, Any] = {
    "background": False,
    "include": [],
    "reasoning.mode": "standard",
    "stream_options.include_obfuscation": False,
    "truncation": "disabled",
}
"""Values that request the default behavior."""

_READ = {*FIELDS, "tools", "tool_choice", "metadata", "top_logprobs", "stream_options", *SHARED}
_THE_CALLS = {"model", "stream", "store", "max_tool_calls"}
"""Members about the call itself, and a limit for provider-run tools, which are not available here."""

_PARTS = {"text": {"format", "verbosity"}, "reasoning": {"effort"}, "stream_options": set[str]()}
"""The members of a group that other formats can express."""


def read_request(body: Mapping[str, Any]) -> Conversation:
    """Read a responses request. Raises InvalidRequest with the member at fault."""
    text, reasoning = (
        fields.read_optional_object(body, "text") or {},
        fields.read_optional_object(body, "reasoning") or {},
    )
    return Conversation(
        form=Form.RESPONSES,
        items=tuple(read_input(body)),
        instructions=fields.read_optional_text(body, "instructions"),
        tools=read_tools(body),
        tool_choice=read_tool_choice(body, read_name),
        text_format=_text_format(text),
        verbosity=fields.read_optional_text(text, "verbosity", "text"),
        effort=fields.read_optional_text(reasoning, "effort", "reasoning"),
        output_limit=fields.read_optional_count(body, "max_output_tokens"),
        top_logprobs=_top_logprobs(body),
        metadata=fields.read_optional_object(body, "metadata"),
        shared={name: body[name] for name in SHARED if body.get(name) is not None},
        particular=_particular(body),
    )


def _include(body: Mapping[str, Any]) -> list[Any]:
    include = body.get("include")
    if not (include is None or isinstance(include, list)):
        raise fields.expected("include", "a list")
    return include or []


def _top_logprobs(body: Mapping[str, Any]) -> int | None:
    top = fields.read_optional_count(body, "top_logprobs")
    return top or 0 if top or LOGPROBS in _include(body) else None


def _text_format(text: Mapping[str, Any]) -> TextFormat | None:
    text_format, path = fields.read_optional_object(text, "format", "text"), "text.format"
    if text_format is None:
        return None
    kind = fields.read_text(text_format, "type", path)
    if kind in ("text", "json_object"):
        fields.refuse_others(text_format, {"type"}, path)
        return TextFormat(kind)
    if kind != "json_schema":
        raise fields.unsupported(f"{path}.type")
    fields.refuse_others(text_format, {"type", "name", "description", "schema", "strict"}, path)
    return TextFormat(
        kind,
        fields.read_text(text_format, "name", path),
        fields.read_optional_text(text_format, "description", path),
        fields.read_object(text_format, "schema", path),
        fields.read_optional_flag(text_format, "strict", path),
    )


def _particular(body: Mapping[str, Any]) -> dict[str, Any]:
    """Collect the members that only this format can express, and unknown ones."""
    particular = {
        fields.joined(group, name): value
        for group, shared in _PARTS.items()
        for name, value in (fields.read_optional_object(body, group) or {}).items()
        if name not in shared
    }
    particular |= {fields.joined("include", at): name for at, name in enumerate(_include(body)) if name != LOGPROBS}
    particular |= {name: value for name, value in body.items() if name not in _READ and name not in _THE_CALLS}
    return {
        path: value
        for path, value in particular.items()
        if value is not None and not (path in _SAYS_NOTHING and value == _SAYS_NOTHING[path])
    }


def read_tools(body: Mapping[str, Any]) -> tuple[Function, ...]:
    """Read `tools`. Raises InvalidRequest with the member at fault."""
    return tuple(_function(tool, path) for path, tool in fields.objects_in(body, "tools"))


def _function(tool: Mapping[str, Any], path: str) -> Function:
    _check_type(tool, path)
    fields.refuse_others(tool, {"type", "name", "description", "parameters", "strict"}, path)
    return Function(
        fields.read_text(tool, "name", path),
        fields.read_optional_text(tool, "description", path),
        fields.read_optional_object(tool, "parameters", path),
        fields.read_optional_flag(tool, "strict", path),
    )


def read_name(tool: Mapping[str, Any], path: str) -> str:
    """Read the name of a function that is chosen at this path. Raises InvalidRequest with the member at fault."""
    _check_type(tool, path)
    fields.refuse_others(tool, {"type", "name"}, path)
    return fields.read_text(tool, "name", path)


def _check_type(tool: Mapping[str, Any], path: str) -> None:
    if tool.get("type") != "function":
        raise fields.unsupported(f"{path}.type")
