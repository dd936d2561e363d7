"""Validates the tools of a response: only tools that the caller runs, because the cost of the provider's is
unbounded."""

from collections.abc import Iterator, Mapping
from typing import Any

from gateway.core.contract.errors import InvalidRequest

TOOLS = frozenset({"function", "custom"})
CHOICES = frozenset({"none", "auto", "required"})
INCLUDES = frozenset({"message.output_text.logprobs", "message.input_image.image_url", "reasoning.encrypted_content"})


def check_tools(body: Mapping[str, Any]) -> None:
    """Check `tools`, `tool_choice` and `include`, or raise InvalidRequest naming the member at fault."""
    tools = body.get("tools")
    if tools is not None:
        _check_list(tools, "tools")
    _check_choice(body.get("tool_choice"))
    _check_includes(body.get("include"))


def holders_in(body: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield what may ask for caching beside the input: a checked body, and its tools."""
    yield "", body
    for index, tool in enumerate(body.get("tools") or ()):
        yield f"tools.{index}", tool


def _check_list(tools: Any, path: str) -> None:
    if not isinstance(tools, list):
        raise InvalidRequest(f"{path} must be a list.", param=path)
    for index, tool in enumerate(tools):
        kind = tool.get("type") if isinstance(tool, dict) else None
        if not _is_ours(kind):
            raise InvalidRequest(
                f"Only function and custom tools are supported: the cost of {_named(kind)} cannot be bounded in advance.",
                param=f"{path}.{index}.type",
            )


def _is_ours(kind: Any) -> bool:
    return isinstance(kind, str) and kind in TOOLS


def _named(kind: Any) -> str:
    return kind if isinstance(kind, str) and kind.isidentifier() and len(kind) <= 64 else "another kind"


def _check_choice(choice: Any) -> None:
    if choice is None or (isinstance(choice, str) and choice in CHOICES):
        return
    kind = choice.get("type") if isinstance(choice, dict) else None
    if kind == "allowed_tools":
        _check_list(choice.get("tools"), "tool_choice.tools")
    elif not _is_ours(kind):
        raise InvalidRequest(
            "tool_choice must be none, auto, required, or name function or custom tools.", param="tool_choice"
        )


def _check_includes(includes: Any) -> None:
    if includes is None:
        return
    if not isinstance(includes, list):
        raise InvalidRequest("include must be a list.", param="include")
    for index, name in enumerate(includes):
        if not isinstance(name, str) or name not in INCLUDES:
            raise InvalidRequest("This belongs to a tool that is not supported here.", param=f"include.{index}")
