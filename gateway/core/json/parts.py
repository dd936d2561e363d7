"""Divides a large JSON text at commas into parts that can be read one by one.

The text is scanned in windows, so that no call holds the interpreter's lock for longer than one window takes.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

WINDOW_BYTES = 64 * 1024

_OTHERS = bytes(set(range(256)) - set(b"[]{}"))


class Part(NamedTuple):
    """A text's range from `start` to `end`; parts are separated by a comma outside strings.

    `values` is the number of its members and elements, `brackets` are those outside strings. `long_strings` has the
    start and end of the content of each string longer than a window.
    """

    start: int
    end: int
    values: int
    brackets: bytes
    long_strings: tuple[tuple[int, int], ...]


def divide(body: bytes) -> Iterator[Part]:
    """Yield the parts of a JSON text. Each ends at the last comma of a window, so that most are as long as one.

    An invalid text is divided in the same way up to its first error.
    """
    start, structure, long_strings = 0, bytearray(), list[tuple[int, int]]()
    string: int | None = None  # start of the content of a string that continues from the last window
    for at, window in _windows(body):
        texts = window.split(b'"')
        first = 0 if string is None else 1  # every second text from here on is outside strings
        if string is not None and len(texts) > 1 and at + len(texts[0]) - string > WINDOW_BYTES:
            long_strings.append((string, at + len(texts[0])))
        if comma := _last_comma(texts, first):
            index, offset = comma
            end = at + sum(map(len, texts[:index])) + index + offset
            structure += _outside([*texts[first:index:2], texts[index][:offset]])
            yield _part(start, end, structure, long_strings)
            start, structure, long_strings = end + 1, bytearray(), []
            texts[index], first = texts[index][offset + 1 :], index
        structure += _outside(texts[first::2])
        if (len(texts) - first) % 2:
            string = None
        else:
            structure += b'"'
            string = string if len(texts) == 1 else at + len(window) - len(texts[-1])
    yield _part(start, len(body), structure, long_strings)


def count_values_of(parts: Sequence[Part]) -> int:
    """Return the number of members and elements in all objects and arrays of a whole text."""
    return sum(part.values for part in parts) + len(parts) - 1


def count_values(structure: bytes | bytearray) -> int:
    """Return the number of members and elements in the objects and arrays of a text without strings and space."""
    return bound_values(structure) - structure.count(b"[]") - structure.count(b"{}")


def bound_values(body: bytes | bytearray) -> int:
    """Return an upper bound of the members and elements: a container has at most one more of them than commas."""
    return body.count(b",") + body.count(b"[") + body.count(b"{")


def _windows(body: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield the start of each window, and its text with escaped quotation marks and backslashes replaced. No escape is
    split."""
    at = 0
    while at < len(body):
        window = body[at : at + WINDOW_BYTES]
        if b"\\" in window:
            window = window.replace(b"\\\\", b"__").replace(b'\\"', b"__")
            if window[-1:] == b"\\" and at + len(window) < len(body):
                window = window[:-1]
        yield at, window
        at += len(window)


def _last_comma(texts: list[bytes], first: int) -> tuple[int, int] | None:
    """Return which of the texts outside strings has the last comma, and its position there."""
    for index in range(len(texts) - 1 - (len(texts) - 1 - first) % 2, -1, -2):
        offset = texts[index].rfind(b",")
        if offset >= 0:
            return index, offset
    return None


def _outside(texts: list[bytes]) -> bytes:
    """Return the structure of these texts, with a quotation mark for each string between them."""
    return b'"'.join(texts).translate(None, b" \t\r\n")


def _part(start: int, end: int, structure: bytearray, long_strings: list[tuple[int, int]]) -> Part:
    return Part(start, end, count_values(structure), bytes(structure.translate(None, _OTHERS)), tuple(long_strings))
