"""Reads the functions of a chat request."""

from collections.abc import Mapping
from typing import Any

from inference.translation import fields
from inference.translation.conversation import Function


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
