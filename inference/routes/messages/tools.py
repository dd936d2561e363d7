"""Checks the tools of a Messages request, of which the vendor runs some itself."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from gateway.core.contract.errors import InvalidRequest

_CLIENT_TOOL = re.compile(r"(?:bash|computer|memory|text_editor)(?P<set>(?<=computer)_toolset)?_[0-9]{8}", re.ASCII)
"""The types of the vendor's tools that the caller runs."""

TOOLSET_PREAMBLES = 8
"""A toolset has some twenty tools, of which the vendor publishes no count. They are no longer than eight single ones with all they
explain."""

Tool = tuple[str, Mapping[str, Any]]
"""A tool with its path."""


def tools_in(body: Mapping[str, Any]) -> Iterator[Tool]:
    """Yield the tools. Raises InvalidRequest naming the member at fault, or `tools` for a tool that the vendor runs."""
    tools = body.get("tools")
    if tools is None:
        return
    if not isinstance(tools, list):
        raise InvalidRequest("tools must be a list.", param="tools")
    for index, tool in enumerate(tools):
        path = f"tools.{index}"
        if not isinstance(tool, dict):
            raise InvalidRequest("A tool must be an object.", param=path)
        if not preambles_of(tool):
            _check_own(tool, path)
        yield path, tool


def preambles_of(tool: Mapping[str, Any]) -> int:
    """Return how many texts the vendor adds to define a tool, 0 for one that the caller defines. Raises InvalidRequest for one that
    the vendor runs."""
    kind = tool.get("type")
    if kind is None or kind == "custom":
        return 0
    known = _CLIENT_TOOL.fullmatch(kind) if isinstance(kind, str) else None
    if known is None:
        raise InvalidRequest("Only tools that the caller runs are supported.", param="tools")
    return TOOLSET_PREAMBLES if known["set"] else 1


def _check_own(tool: Mapping[str, Any], path: str) -> None:
    if not isinstance(tool.get("name"), str):
        raise InvalidRequest("A tool needs a name.", param=f"{path}.name")
    if not isinstance(tool.get("input_schema"), dict):
        raise InvalidRequest("A tool needs the schema of its input.", param=f"{path}.input_schema")
