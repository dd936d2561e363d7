"""Server-sent events: their content, and the many legal ways to encode them in bytes."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import orjson

DONE = b"data: [DONE]\n\n"


@dataclass(frozen=True, slots=True)
class Frame:
    """One event: its data, the tokens that it delivers, and its name if it has one."""

    data: Any
    tokens: int = 0
    name: str = ""

    def encode(self) -> bytes:
        """Encode the event as vendors do: an optional event line, one data line."""
        event = f"event: {self.name}\n".encode() if self.name else b""
        return b"%sdata: %s\n\n" % (event, dumps(self.data))


def dumps(value: Any) -> bytes:
    """Serialize fast; fall back for numbers that orjson refuses."""
    try:
        return orjson.dumps(value)
    except TypeError:
        return json.dumps(value, ensure_ascii=False).encode()


def _crlf(event: bytes) -> list[bytes]:
    return [event.replace(b"\n", b"\r\n")]


def _comments(event: bytes) -> list[bytes]:
    return [b": keep-alive\n\n", b":\n" + event, b"id: 7\nretry: 3000\n\n"]


def _multiline(event: bytes) -> list[bytes]:
    """Spread the data over three lines, which a reader joins with newlines."""
    opened = event.replace(b"{", b"{\ndata: ", 1)
    return [b"\ndata: }".join(opened.rsplit(b"}", 1))]


def _split_lines(event: bytes) -> list[bytes]:
    middle = len(event) // 2
    return [event[:3], event[3:middle], event[middle:-1], event[-1:]]


def _split_utf8(event: bytes) -> list[bytes]:
    """Split after the first byte of the first multi-byte character."""
    cut = next((at + 1 for at, byte in enumerate(event) if byte >= 0xC0), len(event) // 2)
    return [event[:cut], event[cut:]]


def _bytewise(event: bytes) -> list[bytes]:
    return [event[at : at + 1] for at in range(len(event))]


FRAMINGS: Mapping[str, Callable[[bytes], list[bytes]]] = {
    "bytewise": _bytewise,
    "coalesced": lambda event: [event],
    "comments": _comments,
    "crlf": _crlf,
    "multiline": _multiline,
    "plain": lambda event: [event],
    "split_lines": _split_lines,
    "split_utf8": _split_utf8,
}
"""Each returns the pieces of one encoded event, to be written one after another."""
