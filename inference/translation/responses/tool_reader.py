"""Reads the functions of a responses request, and which of them may be called."""

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
    _check_type(tool, path)
    refuse_others(tool, {"type", "name", "description", "parameters", "strict"}, path)
    return Function(
        read_text(tool, "name", path),
        read_optional_text(tool, "description", path),
        read_optional_object(tool, "parameters", path),
        read_optional_flag(tool, "strict", path),
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
        return _allowed(choice)
    return ToolChoice("required", forced=_name(choice, "tool_choice"))


def _allowed(choice: Mapping[str, Any]) -> ToolChoice:
    mode = read_text(choice, "mode", "tool_choice")
    if mode not in ("auto", "required"):
        raise expected("tool_choice.mode", "auto or required")
    return ToolChoice(mode, allowed=tuple(_name(tool, at) for at, tool in objects_in(choice, "tools", "tool_choice")))


def _name(tool: Mapping[str, Any], path: str) -> str:
    _check_type(tool, path)
    refuse_others(tool, {"type", "name"}, path)
    return read_text(tool, "name", path)


def _check_type(tool: Mapping[str, Any], path: str) -> None:
    if tool.get("type") != "function":
        raise unsupported(f"{path}.type")
