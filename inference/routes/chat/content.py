"""What a chat request puts in: how much text, and which parts are not text."""

import ipaddress
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

import orjson

from gateway.core.contract.errors import ImageRejected, InvalidRequest

_NOT_IN_A_URL = re.compile(r"[\x00-\x20\x7f\\]")  # clients repair these, each in its own way
_NAME = re.compile(r"[a-z0-9._-]+")
_NUMBER = re.compile(r"[0-9]+|0x[0-9a-f]*")

TEXT_PARTS = frozenset({"text", "refusal"})
DATA_URLS = ("data:image/png;base64,", "data:image/jpeg;base64,", "data:image/webp;base64,", "data:image/gif;base64,")

PART_TOKENS_ESTIMATE = 1000
"""What an image, audio clip or file weighs in an estimate; vendors count 85 to some thousands for an image."""


@dataclass(frozen=True, slots=True)
class ChatContent:
    """`text_bytes` of messages and tools; `other_part` is the path of the first part that is not text, `other_parts`
    their number; `has_audio` says whether one of them is sound."""

    text_bytes: int
    other_part: str | None
    other_parts: int
    has_audio: bool


def read_content(body: Mapping[str, Any]) -> ChatContent:
    """Measure a chat body's messages and tools, or raise InvalidRequest or ImageRejected naming the member at fault."""
    messages = body.get("messages")
    if not isinstance(messages, list) or not messages:
        raise InvalidRequest("messages must be a list with at least one message.", param="messages")
    text_bytes, others, has_audio = _tools_bytes(body), [], False
    for path, part in _parts(messages):
        if isinstance(part, str):
            text_bytes += len(part.encode())
            continue
        kind = part.get("type")
        if kind in TEXT_PARTS:
            text_bytes += len(str(part.get(kind) or "").encode())
            continue
        _check_part(kind, part, path)
        others.append(path)
        has_audio |= kind == "input_audio"
    return ChatContent(text_bytes, others[0] if others else None, len(others), has_audio)


def _parts(messages: list[Any]) -> Iterator[tuple[str, Any]]:
    """Yield every piece of the messages' content, a text or a part object, with its path."""
    for index, message in enumerate(messages):
        path = f"messages.{index}"
        if not isinstance(message, dict):
            raise InvalidRequest("A message must be an object.", param=path)
        _check_role(message, path)
        _refuse_costly(message, path)
        content = message.get("content")
        if isinstance(content, list):
            yield from _list_parts(content, f"{path}.content")
        elif content is None or isinstance(content, str):
            yield path, content or ""
        else:
            raise InvalidRequest("content must be a string or a list of parts.", param=f"{path}.content")
        if calls := message.get("tool_calls") or message.get("function_call"):
            yield path, orjson.dumps(calls).decode()


def _check_role(message: Mapping[str, Any], path: str) -> None:
    """Refuse a message without a role. Which roles there are is the vendor's matter, so every text passes."""
    role = message.get("role")
    if not isinstance(role, str) or not role:
        raise InvalidRequest("A message needs a role, such as user or assistant.", param=f"{path}.role")


def _list_parts(content: list[Any], path: str) -> Iterator[tuple[str, Any]]:
    for index, part in enumerate(content):
        if not isinstance(part, str | dict):
            raise InvalidRequest("A content part must be an object.", param=f"{path}.{index}")
        if isinstance(part, dict):
            _refuse_costly(part, f"{path}.{index}")
        yield f"{path}.{index}", part


def _refuse_costly(member: Mapping[str, Any], path: str) -> None:
    if member.get("cache_control") is not None:
        raise InvalidRequest("cache_control is not supported here.", param=f"{path}.cache_control")
    if member.get("audio") is not None:  # an earlier spoken answer, kept by the provider under its own id
        raise InvalidRequest("audio is not supported here.", param=f"{path}.audio")


def _check_part(kind: Any, part: Mapping[str, Any], path: str) -> None:
    if not isinstance(kind, str):
        raise InvalidRequest("A content part needs a type.", param=f"{path}.type")
    if kind == "image_url":
        image = part.get("image_url")
        _check_image(image.get("url") if isinstance(image, dict) else image, path)
    # A file's id at the provider names any file of the operator's account, also another customer's.
    if kind == "file" and isinstance(part.get("file"), dict) and part["file"].get("file_id") is not None:
        raise InvalidRequest(
            "Send the file's data; a provider's file id is not accepted.", param=f"{path}.file.file_id"
        )


def _check_image(url: Any, path: str) -> None:
    if not isinstance(url, str):
        raise InvalidRequest("image_url needs a url.", param=f"{path}.image_url.url")
    if not url.startswith(DATA_URLS) and not _is_public_https(url):
        raise ImageRejected(
            "An image must be a public https URL or a base64 PNG, JPEG, WebP or GIF data URL.",
            param=f"{path}.image_url.url",
        )


def _is_public_https(url: str) -> bool:
    """Return whether a URL looks public: https, no credentials, no address or name of a private network."""
    if _NOT_IN_A_URL.search(url):
        return False
    try:
        parts = urlsplit(url)
        host = parts.hostname or ""
    except ValueError:
        return False
    if parts.scheme != "https" or "@" in parts.netloc:
        return False
    try:
        return ipaddress.ip_address(host).is_global
    except ValueError:
        return _is_public_name(host.rstrip("."))


def _is_public_name(host: str) -> bool:
    """Return whether a host is a name with a dot in it, in ASCII, and no address in an old spelling.

    A last label that is a number, decimal or hexadecimal, makes an address of it to browsers and some resolvers
    (127.1, 0x7f.0.0.0x1; WHATWG URL, "ends in a number").
    """
    if "." not in host or not _NAME.fullmatch(host) or host.endswith((".local", ".internal")):
        return False
    return not _NUMBER.fullmatch(host.rpartition(".")[2])


def _tools_bytes(body: Mapping[str, Any]) -> int:
    tools = body.get("tools")
    if tools is None:
        return sum(len(orjson.dumps(body[name])) for name in ("functions", "response_format") if body.get(name))
    if not isinstance(tools, list):
        raise InvalidRequest("tools must be a list.", param="tools")
    for index, tool in enumerate(tools):
        kind = tool.get("type") if isinstance(tool, dict) else None
        if kind not in ("function", "custom"):
            raise InvalidRequest("Only function and custom tools are supported.", param=f"tools.{index}.type")
        _refuse_costly(tool, f"tools.{index}")
    named = ("tools", "functions", "response_format")
    return sum(len(orjson.dumps(body[name])) for name in named if body.get(name))
