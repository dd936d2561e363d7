"""Writes compact JSON, a large text in pieces, so that no call holds the interpreter's lock for long.

orjson writes a whole text in one call, which blocks the event loop even if another thread makes it: for 50 ms when it
escapes ten megabytes.
"""

from collections.abc import Collection
from functools import cmp_to_key
from typing import Any

import orjson

PIECE_CHARACTERS = 64 * 1024
PIECEWISE_BYTES = 1024 * 1024
"""A value from a shorter text is written in a few milliseconds."""

SORTED_CHARACTERS = 16 * 1024
"""Names with at most this many characters in total are sorted in a millisecond or two."""


def canonical(value: Any, size_bytes: int = 0) -> bytes:
    """Render compact JSON with sorted names, so that equal values give equal bytes. A value from a large text, of
    `size_bytes`, may be written in pieces."""
    if size_bytes > PIECEWISE_BYTES:
        return dumps_in_pieces(value, sort_names=True)
    return orjson.dumps(value, option=orjson.OPT_SORT_KEYS)


def written(value: Any, size_bytes: int) -> bytes:
    """Render compact JSON of a value from a text of `size_bytes`; a large one is written in pieces."""
    return dumps_in_pieces(value) if size_bytes > PIECEWISE_BYTES else orjson.dumps(value)


def dumps_in_pieces(value: Any, *, sort_names: bool = False) -> bytes:
    """Render compact JSON: the same bytes as orjson's in one call."""
    text = bytearray()
    _write(text, value, sort_names)
    return bytes(text)


def _write(text: bytearray, value: Any, sort_names: bool) -> None:
    if type(value) is dict:
        _write_object(text, value, sort_names)
    elif type(value) is list:
        _write_array(text, value, sort_names)
    elif type(value) is str and len(value) > PIECE_CHARACTERS:
        _write_long_string(text, value)
    else:
        text += orjson.dumps(value)


def _write_object(text: bytearray, members: dict[str, Any], sort_names: bool) -> None:
    start = len(text)
    for name in _sorted(members) if sort_names else members:
        text += b","
        _write(text, name, sort_names)
        text += b":"
        _write(text, members[name], sort_names)
    _enclose(text, start, b"{", b"}")


def _sorted(names: Collection[str]) -> list[str]:
    """Return names in order. If they are many or long, a Python comparison is used, between whose calls other threads
    can run."""
    if sum(map(len, names)) <= SORTED_CHARACTERS:
        return sorted(names)
    return sorted(names, key=cmp_to_key(_compared))


def _compared(name: str, other: str) -> int:
    return 1 if name > other else -1


def _write_array(text: bytearray, elements: list[Any], sort_names: bool) -> None:
    start = len(text)
    for element in elements:
        text += b","
        _write(text, element, sort_names)
    _enclose(text, start, b"[", b"]")


def _enclose(text: bytearray, start: int, opening: bytes, closing: bytes) -> None:
    """Close a container; its opening bracket replaces the first comma."""
    text[start : start + 1] = opening
    text += closing


def _write_long_string(text: bytearray, string: str) -> None:
    text += b'"'
    for at in range(0, len(string), PIECE_CHARACTERS):
        text += orjson.dumps(string[at : at + PIECE_CHARACTERS])[1:-1]
    text += b'"'
