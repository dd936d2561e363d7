"""Reads the functions of a chat request, and which of them may be called."""

from collections.abc import Mapping
from typing import Any

from inference.translation.conversation import Function, ToolChoice
from inference.translation.fields import (
    expected,
    objects_in,
    read_object,
    read_optional_flag,
    read_optional_object,
    read_optional_text,
    read_text,
    refuse_others,
    unsupported,
)


def read_tools(body: Mapping[str, Any]) -> tuple[Function, ...]:
    """Read `tools`. Raises InvalidRequest with the member at fault."""
    return tuple(_function(tool, path) for path, tool in objects_in(body, "tools"))


def _function(tool: Mapping[str, Any], path: str) -> Function:
    function = _only_functions(tool, path)
    path = f"{path}.function"
    refuse_others(function, {"name", "description", "parameters", "strict"}, path)
    return Function(
        read_text(function, "name", path),
        read_optional_text(function, "description", path),
        read_optional_object(function, "parameters", path),
        read_optional_flag(function, "strict", path) or False,  # this format's default
    )


def read_tool_choice(body: Mapping[str, Any]) -> ToolChoice | None:
    """Read `tool_choice`. Raises InvalidRequest with the member at fault."""
    choice = body.get("tool_choice")
    if choice is None:
        return None
    if isinstance(choice, str):
        if choice not in ("none", "auto", "required"):
            raise expected("tool_choice", "none, auto, required or an object")
        return ToolChoice(choice)
    choice = read_object(body, "tool_choice")
    if choice.get("type") == "allowed_tools":
        return _allowed(read_object(choice, "allowed_tools", "tool_choice"), "tool_choice.allowed_tools")
    return ToolChoice("required", forced=_name(choice, "tool_choice"))


def _allowed(allowed: Mapping[str, Any], path: str) -> ToolChoice:
    mode = read_text(allowed, "mode", path)
    if mode not in ("auto", "required"):
        raise expected(f"{path}.mode", "auto or required")
    return ToolChoice(mode, allowed=tuple(_name(tool, at) for at, tool in objects_in(allowed, "tools", path)))


def _name(tool: Mapping[str, Any], path: str) -> str:
    return read_text(_only_functions(tool, path), "name", f"{path}.function")


def _only_functions(tool: Mapping[str, Any], path: str) -> Mapping[str, Any]:
    if tool.get("type") != "function":
        raise unsupported(f"{path}.type")
    refuse_others(tool, {"type", "function"}, path)
    return read_object(tool, "function", path)
