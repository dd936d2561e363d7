"""Measures the input of a Messages request: its text, and the blocks that are not text."""

from collections.abc import Iterator, Mapping
from typing import Any

from gateway.core.contract.errors import InvalidRequest
from gateway.core.contract.values import value_class
from gateway.core.json.pieces import written
from inference.routes.messages.tools import preambles_of, tools_in
from inference.rules.caching import Holder

_USER = frozenset({"text", "image", "document", "search_result", "tool_result"})
_ASSISTANT = frozenset({"text", "thinking", "redacted_thinking", "tool_use"})
_PARTS = frozenset({"text", "image"})
_BLOCKS = {"user": _USER, "assistant": _ASSISTANT, "system": frozenset({"text"})}
_IMAGE_SOURCES = {"base64": (str,), "url": (str,)}
_DOCUMENT_SOURCES = {**_IMAGE_SOURCES, "text": (str,), "content": (str, list)}
"""The types of sources, and of what they contain."""

_MEMBERS: Mapping[str, Mapping[str, type]] = {
    "text": {"text": str},
    "search_result": {"source": str, "title": str, "content": list},
    "thinking": {"thinking": str},
    "redacted_thinking": {"data": str},
    "tool_result": {"tool_use_id": str},
    "tool_use": {"id": str, "name": str, "input": dict},
}
"""What a block of each type must have."""

_NAMES: Mapping[type, str] = {str: "a text", list: "a list", dict: "an object"}


@value_class(frozen=True, slots=True)
class MessageContent:
    """`other_part` is the path of the first block that is not text, `other_parts` the number of such blocks.

    `preambles` counts what the vendor adds a text of its own for. `holders` are the members that may ask for caching.
    `has_foreign_thinking`: there is thinking that no provider signed.
    """

    text_bytes: int
    other_part: str | None
    other_parts: int
    preambles: int
    holders: tuple[Holder, ...]
    has_foreign_thinking: bool


class _Measure:
    """What has been measured so far, of a body of `size_bytes`."""

    def __init__(self, size_bytes: int) -> None:
        self.size_bytes = size_bytes
        self.text_bytes = 0
        self.others: list[str] = []
        self.holders: list[Holder] = []
        self.cites = False
        self.has_foreign_thinking = False

    def note(self, member: Mapping[str, Any], path: str) -> None:
        """Record a member that asks for caching."""
        if member.get("cache_control") is not None:
            self.holders.append((path, member))

    def add(self, value: Any) -> None:
        """Count a value that is written as JSON."""
        self.text_bytes += len(written(value, self.size_bytes))


def read_content(body: Mapping[str, Any], size_bytes: int) -> MessageContent:
    """Measure the messages, the system prompt and the tools, or raise InvalidRequest naming the member at fault."""
    measure = _Measure(size_bytes)
    measure.note(body, "")
    preambles = _tools(body, measure) + _format(body)
    _system(body, measure)
    messages = body.get("messages")
    if not isinstance(messages, list) or not messages:
        raise InvalidRequest("messages must be a list with at least one message.", param="messages")
    if isinstance(messages[0], dict) and messages[0].get("role") == "system":
        raise InvalidRequest("The first message must not be a system message: send system.", param="messages.0.role")
    for index, message in enumerate(messages):
        _message(message, f"messages.{index}", measure)
    others = measure.others
    return MessageContent(
        text_bytes=measure.text_bytes,
        other_part=others[0] if others else None,
        other_parts=len(others),
        preambles=preambles + measure.cites,
        holders=tuple(measure.holders),
        has_foreign_thinking=measure.has_foreign_thinking,
    )


def is_foreign_thinking(block: Any) -> bool:
    """Return whether a block is thinking that no provider signed, such as that of another vendor's model."""
    return isinstance(block, dict) and block.get("type") == "thinking" and not block.get("signature")


def _tools(body: Mapping[str, Any], measure: _Measure) -> int:
    """Measure the tools. The vendor adds a text if there are any, and one for each that it defines."""
    preambles = 1
    for path, tool in tools_in(body):
        preambles += preambles_of(tool)
        measure.note(tool, path)
    tools = body.get("tools")
    if not tools:
        return 0
    measure.add(tools)
    return preambles


def _format(body: Mapping[str, Any]) -> int:
    """Return 1 if the vendor explains the format of the answer to the model."""
    config = body.get("output_config")
    if config is None:
        return 0
    if not isinstance(config, dict):
        raise InvalidRequest("output_config must be an object.", param="output_config")
    return int(config.get("format") is not None)


def _system(body: Mapping[str, Any], measure: _Measure) -> None:
    system = body.get("system")
    if isinstance(system, str) or system is None:
        measure.text_bytes += len((system or "").encode())
        return
    if not isinstance(system, list):
        raise InvalidRequest("system must be a text or a list of text blocks.", param="system")
    _texts(system, "system", "A system block must be a text block.", measure)


def _texts(blocks: list[Any], path: str, what: str, measure: _Measure) -> None:
    """Measure a list of text blocks."""
    for index, block in enumerate(blocks):
        at = f"{path}.{index}"
        if not isinstance(block, dict) or block.get("type") != "text" or not isinstance(block.get("text"), str):
            raise InvalidRequest(what, param=at)
        measure.note(block, at)
        measure.text_bytes += len(block["text"].encode())


def _message(message: Any, path: str, measure: _Measure) -> None:
    if not isinstance(message, dict):
        raise InvalidRequest("A message must be an object.", param=path)
    role = message.get("role")
    known = _BLOCKS.get(role) if isinstance(role, str) else None
    if known is None:
        raise InvalidRequest("role must be user, assistant or system.", param=f"{path}.role")
    content = message.get("content")
    if isinstance(content, str):
        measure.text_bytes += len(content.encode())
        return
    for at, block in blocks_in(content, f"{path}.content"):
        _block(block, at, known, measure)


def _block(block: Mapping[str, Any], path: str, known: frozenset[str], measure: _Measure) -> None:
    kind = block.get("type")
    if not isinstance(kind, str) or kind not in known:
        raise InvalidRequest(f"A block needs a type, one of {', '.join(sorted(known))}.", param=f"{path}.type")
    for name, form in _MEMBERS.get(kind, {}).items():
        if not isinstance(block.get(name), form):
            raise InvalidRequest(f"{name} must be {_NAMES[form]}.", param=f"{path}.{name}")
    measure.note(block, path)
    match kind:
        case "image":
            _check_source(block, path, _IMAGE_SOURCES)
            measure.others.append(path)
        case "document":
            _document(block, path, measure)
        case "search_result":
            measure.cites = True
            _texts(block["content"], f"{path}.content", "A search result is made of text blocks.", measure)
        case "tool_result" if not isinstance(block.get("content"), str | None):
            for at, part in blocks_in(block["content"], f"{path}.content"):
                _block(part, at, _USER - {"tool_result"}, measure)
        case _:
            measure.has_foreign_thinking = measure.has_foreign_thinking or is_foreign_thinking(block)
            measure.add(block)


def _document(block: Mapping[str, Any], path: str, measure: _Measure) -> None:
    """Measure a document. The size of a file does not bound its tokens, nor that of a text which its vendor divides for citations."""
    source = _check_source(block, path, _DOCUMENT_SOURCES)
    kind, content = source["type"], source.get("content")
    if kind == "content" and not isinstance(content, str):
        for at, part in blocks_in(content, f"{path}.source.content"):
            _block(part, at, _PARTS, measure)
    if kind in ("base64", "url") or _is_cited(block):
        measure.others.append(path)
    elif kind == "text" or isinstance(content, str):
        measure.add(block)


def _is_cited(document: Mapping[str, Any]) -> bool:
    citations = document.get("citations")
    return citations is not None and not (isinstance(citations, dict) and citations.get("enabled") in (None, False))


def _check_source(block: Mapping[str, Any], path: str, allowed: Mapping[str, tuple[type, ...]]) -> Mapping[str, Any]:
    """Return a source of an allowed type. A provider's file id could name any file of the operator's account."""
    source, path = block.get("source"), f"{path}.source"
    if not isinstance(source, dict):
        raise InvalidRequest("source must be an object.", param=path)
    if source.get("file_id") is not None or source.get("type") == "file":
        raise InvalidRequest("Send the file's data; a provider's file id is not accepted.", param=f"{path}.file_id")
    kind = source.get("type")
    if not isinstance(kind, str) or kind not in allowed:
        text = f"The source of {block['type']} blocks must be {' or '.join(allowed)}."
        raise InvalidRequest(text, param=f"{path}.type")
    if not isinstance(source.get({"url": "url", "content": "content"}.get(kind, "data")), allowed[kind]):
        raise InvalidRequest("The source has no content.", param=path)
    return source


def blocks_in(content: Any, path: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield the blocks of a list with their paths, or raise InvalidRequest."""
    if not isinstance(content, list):
        raise InvalidRequest("content must be a text or a list of blocks.", param=path)
    for index, block in enumerate(content):
        if not isinstance(block, dict):
            raise InvalidRequest("A block must be an object.", param=f"{path}.{index}")
        yield f"{path}.{index}", block
