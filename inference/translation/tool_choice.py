"""Reads which functions of a request may be called. The formats differ in where they name one, and group those allowed."""

from collections.abc import Callable, Mapping
from typing import Any

from inference.translation import fields
from inference.translation.conversation import ToolChoice

ReadName = Callable[[Mapping[str, Any], str], str]


def read_tool_choice(body: Mapping[str, Any], read_name: ReadName, group: str | None = None) -> ToolChoice | None:
    """Read `tool_choice`, whose allowed functions are in its member `group`, if it has one. `read_name` reads the name of a function
    at a path. Raises InvalidRequest with the member at fault."""
    choice, path = body.get("tool_choice"), "tool_choice"
    if choice is None:
        return None
    if isinstance(choice, str):
        if choice not in ("none", "auto", "required"):
            raise fields.expected(path, "none, auto, required or an object")
        return ToolChoice(choice)
    choice = fields.read_object(body, path)
    if choice.get("type") != "allowed_tools":
        return ToolChoice("required", forced=read_name(choice, path))
    if group is not None:
        choice, path = fields.read_object(choice, group, path), f"{path}.{group}"
    mode = fields.read_text(choice, "mode", path)
    if mode not in ("auto", "required"):
        raise fields.expected(f"{path}.mode", "auto or required")
    return ToolChoice(mode, allowed=tuple(read_name(tool, at) for at, tool in fields.objects_in(choice, "tools", path)))
