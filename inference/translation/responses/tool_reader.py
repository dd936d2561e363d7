"""Reads the functions of a responses request."""

from collections.abc import Mapping
from typing import Any

from inference.translation import fields
from inference.translation.conversation import Function


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
