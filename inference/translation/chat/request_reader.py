"""Reads a chat request."""

from collections.abc import Mapping
from typing import Any

from inference.translation import fields
from inference.translation.chat.message_reader import read_messages
from inference.translation.conversation import SHARED, Conversation, Form, Function, TextFormat
from inference.translation.tool_choice import read_tool_choice

LIMITS = ("max_completion_tokens", "max_tokens")

FIELDS: Mapping[str, str] = {
    "messages": "items",
    "response_format": "text_format",
    "verbosity": "verbosity",
    "reasoning_effort": "effort",
    "max_completion_tokens": "output_limit",
    "max_tokens": "output_limit",
    "logprobs": "top_logprobs",
    "stop": "stop",
}
"""The conversation fields of the members whose names are specific to this format."""

_SAYS_NOTHING: Mapping[str, Any] = {
    "frequency_penalty": 0,
    "logit_bias": {},
    "modalities": ["text"],
    "n": 1,
    "presence_penalty": 0,
    "store": False,
    "stream_options.include_obfuscation": False,
}
"""Values that request the default behavior."""

_READ = {*FIELDS, "tools", "tool_choice", "metadata", "top_logprobs", "stream_options", *SHARED}
_THE_CALLS = {"model", "stream"}
"""Members about the call itself, which are not part of the conversation."""


def read_request(body: Mapping[str, Any]) -> Conversation:
    """Read a chat request. Raises InvalidRequest with the member at fault."""
    return Conversation(
        form=Form.CHAT,
        items=tuple(read_messages(body)),
        tools=read_tools(body),
        tool_choice=read_tool_choice(body, read_name, "allowed_tools"),
        text_format=_text_format(body),
        verbosity=fields.read_optional_text(body, "verbosity"),
        effort=fields.read_optional_text(body, "reasoning_effort"),
        output_limit=_output_limit(body),
        stop=_stop(body),
        top_logprobs=_top_logprobs(body),
        metadata=fields.read_optional_object(body, "metadata"),
        shared={name: body[name] for name in SHARED if body.get(name) is not None},
        particular=_particular(body),
    )


def _output_limit(body: Mapping[str, Any]) -> int | None:
    limits = {limit for name in LIMITS if (limit := fields.read_optional_count(body, name)) is not None}
    if len(limits) > 1:
        raise fields.expected("max_tokens", "the same as max_completion_tokens")
    return limits.pop() if limits else None


def _stop(body: Mapping[str, Any]) -> tuple[str, ...]:
    texts = body.get("stop")
    if texts is None or isinstance(texts, str):
        return () if texts is None else (texts,)
    if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
        raise fields.expected("stop", "a text or a list of texts")
    return tuple(texts)


def _top_logprobs(body: Mapping[str, Any]) -> int | None:
    top = fields.read_optional_count(body, "top_logprobs")
    if fields.read_optional_flag(body, "logprobs"):
        return top or 0
    if top:
        raise fields.expected("logprobs", "true if top_logprobs is set")
    return None


def _text_format(body: Mapping[str, Any]) -> TextFormat | None:
    response_format = fields.read_optional_object(body, "response_format")
    if response_format is None:
        return None
    kind = fields.read_text(response_format, "type", "response_format")
    if kind in ("text", "json_object"):
        fields.refuse_others(response_format, {"type"}, "response_format")
        return TextFormat(kind)
    if kind != "json_schema":
        raise fields.unsupported("response_format.type")
    fields.refuse_others(response_format, {"type", "json_schema"}, "response_format")
    path = "response_format.json_schema"
    schema = fields.read_object(response_format, "json_schema", "response_format")
    fields.refuse_others(schema, {"name", "description", "schema", "strict"}, path)
    return TextFormat(
        kind,
        fields.read_text(schema, "name", path),
        fields.read_optional_text(schema, "description", path),
        fields.read_optional_object(schema, "schema", path),
        fields.read_optional_flag(schema, "strict", path),
    )


def _particular(body: Mapping[str, Any]) -> dict[str, Any]:
    """Collect the members that only this format can express, and unknown ones."""
    options = fields.read_optional_object(body, "stream_options") or {}
    particular = {f"stream_options.{name}": value for name, value in options.items() if name != "include_usage"}
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
    function = _only_functions(tool, path)
    path = f"{path}.function"
    fields.refuse_others(function, {"name", "description", "parameters", "strict"}, path)
    return Function(
        fields.read_text(function, "name", path),
        fields.read_optional_text(function, "description", path),
        fields.read_optional_object(function, "parameters", path),
        fields.read_optional_flag(function, "strict", path) or False,  # this format's default
    )


def read_name(tool: Mapping[str, Any], path: str) -> str:
    """Read the name of a function that is chosen at this path. Raises InvalidRequest with the member at fault."""
    return fields.read_text(_only_functions(tool, path), "name", f"{path}.function")


def _only_functions(tool: Mapping[str, Any], path: str) -> Mapping[str, Any]:
    if tool.get("type") != "function":
        raise fields.unsupported(f"{path}.type")
    fields.refuse_others(tool, {"type", "function"}, path)
    return fields.read_object(tool, "function", path)
