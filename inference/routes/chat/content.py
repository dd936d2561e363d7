"""Measures a chat request's input: its text, and the parts that are not text."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from gateway.core.contract.errors import InvalidRequest
from gateway.core.contract.values import value_class
from gateway.core.json.pieces import written
from inference.rules.images import is_inline
from inference.rules.members import refuse_media

TEXT_PARTS = ("text", "refusal")
OTHER_PARTS = ("image_url", "input_audio", "file")


@value_class(frozen=True, slots=True)
class ChatContent:
    """`text_bytes` of messages and tools; `other_part` is the path of the first part that is not text, `other_parts` is
    the number of such parts; `has_audio` says whether one of them is audio."""

    text_bytes: int
    other_part: str | None
    other_parts: int
    has_audio: bool


def read_content(body: Mapping[str, Any], size_bytes: int) -> ChatContent:
    """Measure the messages and tools of a chat body of `size_bytes`, or raise InvalidRequest naming the member at
    fault."""
    messages = body.get("messages")
    if not isinstance(messages, list) or not messages:
        raise InvalidRequest("messages must be a list with at least one message.", param="messages")
    text_bytes, others, has_audio = _tools_bytes(body, size_bytes), [], False
    for path, part in _parts(messages, size_bytes):
        if isinstance(part, str):
            text_bytes += len(part.encode())
            continue
        kind = part.get("type")
        refuse_media(part, str(kind), path)
        if kind in TEXT_PARTS:
            text_bytes += len(str(part.get(kind) or "").encode())
            continue
        _check_part(kind, part, path)
        others.append(path)
        has_audio |= kind == "input_audio"
    return ChatContent(text_bytes, others[0] if others else None, len(others), has_audio)


def _parts(messages: list[Any], size_bytes: int) -> Iterator[tuple[str, Any]]:
    """Yield every text and part object of the messages' content, with its path."""
    for index, message in enumerate(messages):
        path = f"messages.{index}"
        if not isinstance(message, dict):
            raise InvalidRequest("A message must be an object.", param=path)
        _check_role(message, path)
        _refuse_spoken(message, path)
        content = message.get("content")
        if isinstance(content, list):
            yield from _list_parts(content, f"{path}.content")
        elif content is None or isinstance(content, str):
            yield path, content or ""
        else:
            raise InvalidRequest("content must be a string or a list of parts.", param=f"{path}.content")
        if calls := message.get("tool_calls") or message.get("function_call"):
            yield path, written(calls, size_bytes).decode()


def _check_role(message: Mapping[str, Any], path: str) -> None:
    """Refuse a message without a role. The vendor defines the roles, so any text is accepted."""
    role = message.get("role")
    if not isinstance(role, str) or not role:
        raise InvalidRequest("A message needs a role, such as user or assistant.", param=f"{path}.role")


def _list_parts(content: list[Any], path: str) -> Iterator[tuple[str, Any]]:
    for index, part in enumerate(content):
        if not isinstance(part, str | dict):
            raise InvalidRequest("A content part must be an object.", param=f"{path}.{index}")
        if isinstance(part, dict):
            _refuse_spoken(part, f"{path}.{index}")
        yield f"{path}.{index}", part


def holders_in(body: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield what may ask for caching in a body whose content was read: itself, its messages, their parts, and its tools."""
    yield "", body
    for index, message in enumerate(body["messages"]):
        yield f"messages.{index}", message
        content = message.get("content")
        for at, part in enumerate(content if isinstance(content, list) else ()):
            if isinstance(part, dict):
                yield f"messages.{index}.content.{at}", part
    for index, tool in enumerate(body.get("tools") or ()):
        yield f"tools.{index}", tool
        if isinstance(tool.get("function"), dict):
            yield f"tools.{index}.function", tool["function"]


def _refuse_spoken(member: Mapping[str, Any], path: str) -> None:
    if member.get("audio") is not None:  # an earlier spoken answer, stored by the provider under its own id
        raise InvalidRequest("audio is not supported here.", param=f"{path}.audio")


def _check_part(kind: Any, part: Mapping[str, Any], path: str) -> None:
    """Refuse a part of an unknown kind, because it may contain an address that the upstream would fetch."""
    if kind not in OTHER_PARTS:
        known = ", ".join(TEXT_PARTS + OTHER_PARTS)
        raise InvalidRequest(f"A content part needs a type, one of {known}.", param=f"{path}.type")
    if kind == "file":
        _check_file(part.get("file"), f"{path}.file")


def _check_file(file: Any, path: str) -> None:
    """Refuse a provider's file id, which could name any file of the operator's account, and an address to fetch."""
    if not isinstance(file, dict):
        raise InvalidRequest("file must be an object.", param=path)
    if file.get("file_id") is not None:
        raise InvalidRequest("Send the file's data; a provider's file id is not accepted.", param=f"{path}.file_id")
    data = file.get("file_data")
    if not isinstance(data, str) or (":" in data and not is_inline(data)):
        raise InvalidRequest("file_data must be base64, or a data URL.", param=f"{path}.file_data")


def _tools_bytes(body: Mapping[str, Any], size_bytes: int) -> int:
    tools = body.get("tools")
    if tools is None:
        return _written_bytes(body, ("functions", "response_format"), size_bytes)
    if not isinstance(tools, list):
        raise InvalidRequest("tools must be a list.", param="tools")
    for index, tool in enumerate(tools):
        kind = tool.get("type") if isinstance(tool, dict) else None
        if kind not in ("function", "custom"):
            raise InvalidRequest("Only function and custom tools are supported.", param=f"tools.{index}.type")
    return _written_bytes(body, ("tools", "functions", "response_format"), size_bytes)


def _written_bytes(body: Mapping[str, Any], names: Iterable[str], size_bytes: int) -> int:
    return sum(len(written(body[name], size_bytes)) for name in names if body.get(name))
