"""Measures the input of a Messages request: its text, and the blocks that are not text."""

from collections.abc import Iterator, Mapping
from typing import Any

from gateway.core.contract.errors import InvalidRequest
from gateway.core.contract.values import value_class
from gateway.core.json.pieces import written
from inference.rules.caching import Holder

CLIENT_TOOLS = ("bash_", "computer_", "memory_", "text_editor_")
"""The vendor's tools that the caller runs, by the beginning of their types."""

TOOLS_OVERHEAD_TOKENS = 1000
"""The most that the vendor adds to a prompt with tools, and again for each tool of its own; it publishes 261 to 735."""

_USER = frozenset({"text", "image", "document", "search_result", "tool_result"})
_ASSISTANT = frozenset({"text", "thinking", "redacted_thinking", "tool_use"})
_BLOCKS = {"user": _USER, "assistant": _ASSISTANT}


@value_class(frozen=True, slots=True)
class MessageContent:
    """`other_part` is the path of the first block that is not text, `other_parts` the number of such blocks.

    `overhead_tokens` are those that the vendor adds for tools. `holders` are the members that may ask for caching.
    """

    text_bytes: int
    other_part: str | None
    other_parts: int
    overhead_tokens: int
    holders: tuple[Holder, ...]


class _Measure:
    """What has been measured so far."""

    def __init__(self) -> None:
        self.text_bytes = 0
        self.others: list[str] = []
        self.holders: list[Holder] = []

    def note(self, member: Mapping[str, Any], path: str) -> None:
        """Record a member that asks for caching."""
        if member.get("cache_control") is not None:
            self.holders.append((path, member))


def read_content(body: Mapping[str, Any], size_bytes: int) -> MessageContent:
    """Measure the messages, the system prompt and the tools, or raise InvalidRequest naming the member at fault."""
    measure = _Measure()
    measure.note(body, "")
    overhead = _tools(body, size_bytes, measure)
    _system(body, measure)
    messages = body.get("messages")
    if not isinstance(messages, list) or not messages:
        raise InvalidRequest("messages must be a list with at least one message.", param="messages")
    for index, message in enumerate(messages):
        _message(message, f"messages.{index}", size_bytes, measure)
    others = measure.others
    first = others[0] if others else None
    return MessageContent(measure.text_bytes, first, len(others), overhead, tuple(measure.holders))


def _tools(body: Mapping[str, Any], size_bytes: int, measure: _Measure) -> int:
    tools = body.get("tools")
    if tools is None:
        return 0
    if not isinstance(tools, list):
        raise InvalidRequest("tools must be a list.", param="tools")
    vendors = 0
    for index, tool in enumerate(tools):
        path = f"tools.{index}"
        if not isinstance(tool, dict):
            raise InvalidRequest("A tool must be an object.", param=path)
        kind = tool.get("type")
        is_clients = isinstance(kind, str) and kind.startswith(CLIENT_TOOLS)
        if not (kind is None or kind == "custom" or is_clients):
            raise InvalidRequest("Only tools that the caller runs are supported.", param="tools")
        vendors += is_clients
        measure.note(tool, path)
    measure.text_bytes += len(written(tools, size_bytes))
    return TOOLS_OVERHEAD_TOKENS * (vendors + 1) if tools else 0


def _system(body: Mapping[str, Any], measure: _Measure) -> None:
    system = body.get("system")
    if isinstance(system, str) or system is None:
        measure.text_bytes += len((system or "").encode())
        return
    if not isinstance(system, list):
        raise InvalidRequest("system must be a text or a list of text blocks.", param="system")
    for index, block in enumerate(system):
        path = f"system.{index}"
        if not isinstance(block, dict) or block.get("type") != "text" or not isinstance(block.get("text"), str):
            raise InvalidRequest("A system block must be a text block.", param=path)
        measure.note(block, path)
        measure.text_bytes += len(block["text"].encode())


def _message(message: Any, path: str, size_bytes: int, measure: _Measure) -> None:
    if not isinstance(message, dict):
        raise InvalidRequest("A message must be an object.", param=path)
    role = message.get("role")
    known = _BLOCKS.get(role) if isinstance(role, str) else None
    if known is None:
        raise InvalidRequest("role must be user or assistant.", param=f"{path}.role")
    content = message.get("content")
    if isinstance(content, str):
        measure.text_bytes += len(content.encode())
        return
    for at, block in blocks_in(content, f"{path}.content"):
        _block(block, at, known, size_bytes, measure)


def _block(block: Mapping[str, Any], path: str, known: frozenset[str], size_bytes: int, measure: _Measure) -> None:
    kind = block.get("type")
    if not isinstance(kind, str) or kind not in known:
        raise InvalidRequest(f"A block needs a type, one of {', '.join(sorted(known))}.", param=f"{path}.type")
    measure.note(block, path)
    if kind in ("image", "document"):
        _check_source(block, path, kind)
        measure.others.append(path)
    elif kind == "tool_result" and isinstance(block.get("content"), list):
        for at, part in blocks_in(block["content"], f"{path}.content"):
            _block(part, at, _USER - {"tool_result"}, size_bytes, measure)
    else:
        measure.text_bytes += len(written(block, size_bytes))


def _check_source(block: Mapping[str, Any], path: str, kind: str) -> None:
    """Refuse a provider's file id, which could name any file of the operator's account, and a document to fetch."""
    source, path = block.get("source"), f"{path}.source"
    if not isinstance(source, dict):
        raise InvalidRequest("source must be an object.", param=path)
    if source.get("file_id") is not None or source.get("type") == "file":
        raise InvalidRequest("Send the file's data; a provider's file id is not accepted.", param=f"{path}.file_id")
    allowed = ("base64", "url") if kind == "image" else ("base64", "text")
    if source.get("type") not in allowed:
        raise InvalidRequest(f"The source of {kind} blocks must be {' or '.join(allowed)}.", param=f"{path}.type")
    if not isinstance(source.get("url" if source["type"] == "url" else "data"), str):
        raise InvalidRequest("The source has no content.", param=path)


def blocks_in(content: Any, path: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield the blocks of a list with their paths, or raise InvalidRequest."""
    if not isinstance(content, list):
        raise InvalidRequest("content must be a text or a list of blocks.", param=path)
    for index, block in enumerate(content):
        if not isinstance(block, dict):
            raise InvalidRequest("A block must be an object.", param=f"{path}.{index}")
        yield f"{path}.{index}", block
