"""Matches runs of events that share a template, and writes them."""

import re
from collections.abc import Mapping, Sequence
from functools import cache
from itertools import chain
from operator import itemgetter
from typing import Any, NamedTuple

PATTERNS: Mapping[str, bytes] = {
    "text": rb'([^"\\\x00-\x1f]+)',
    "padding": rb"([ !#-\[\]-~]*)",
    "number": rb"(?:0|[1-9][0-9]{0,14})",
}
"""Patterns of values that are valid as the content of a JSON string, or as a number, in any context."""

# Separators: the marks replace the fixed bytes between an event's values; the end follows each event. No value contains them.
_MARKS = (b"\1", b"\2")
_END = b"\3"

_COLUMNS = ("text", "padding", "number")


class Run(NamedTuple):
    """Consecutive events that match one template: their texts, and their paddings if they have any."""

    template: "Template"
    texts: Sequence[bytes]
    paddings: Sequence[bytes]

    @property
    def deltas(self) -> int:
        """Return the number of events. Each has a non-empty text."""
        return len(self.texts)

    @property
    def size_bytes(self) -> int:
        """Return the UTF-8 bytes of the texts."""
        return sum(map(len, self.texts))

    @property
    def text(self) -> str:
        """Return the texts, joined."""
        return b"".join(self.texts).decode()

    def written(self, number: int = 0) -> bytes:
        """Return the events as they are written, numbered from `number` on if they have numbers."""
        return self.template.fill(self.texts, self.paddings, number)

    def event(self, number: int) -> dict[str, Any]:
        """Return the last event of the run, which is numbered from `number` on, with the joined texts of all its events."""
        return self.template.event | {"delta": self.text, "sequence_number": number + self.deltas - 1}


class Template:
    """The fixed bytes of an event that is read, and those of the event that is written.

    `pieces` are the bytes around the values `read_names` of the event that is read. `layout` is the written event, with `%b`
    in place of a text or a padding and `%d` of a number, in the order of `names`. `event` is the written event that this
    template was made from.
    """

    def __init__(
        self,
        pieces: Sequence[bytes],
        read_names: Sequence[str],
        layout: bytes,
        names: Sequence[str],
        event: dict[str, Any],
    ) -> None:
        self._first, *between, self._last = pieces
        self._between = list(zip(between, _MARKS, strict=False))
        self._match, self._find = _patterns(tuple(read_names))
        self._is_one_text = list(read_names) == ["text"]
        self._captured = [name for name in read_names if name != "number"]
        self._layout = layout
        self._pick = itemgetter(*map(_COLUMNS.index, names)) if len(names) > 1 else None
        self.event = event

    def run(self, blocks: Sequence[bytes]) -> Run | None:
        """Return the longest prefix of `blocks` that matches, or None if not even the first block does."""
        first, last = self._first, self._last
        start, end = len(first), -len(last)
        insides = []
        for block in blocks:
            if not (block.startswith(first) and block.endswith(last)):
                break
            insides.append(block[start:end])
        if len(insides) == 1 and self._is_one_text:
            return self._read_text(insides[0])
        return self._read(insides) if insides else None

    def fill(self, texts: Sequence[bytes], paddings: Sequence[bytes], number: int) -> bytes:
        """Return the written events of a run with these values."""
        if self._pick is None:
            return self._layout * len(texts) % tuple(texts)
        if len(texts) == 1:
            return self._layout % self._pick((texts[0], paddings[0] if paddings else b"", number))
        columns = self._pick((texts, paddings, range(number, number + len(texts))))
        return self._layout * len(texts) % tuple(chain.from_iterable(zip(*columns, strict=True)))

    def _read_text(self, inside: bytes) -> Run | None:
        """Read one event of which nothing but the text differs, as `_read` does in general."""
        return Run(self, (inside,), ()) if _is_text(inside) and _is_utf8(inside) else None

    def _read(self, insides: Sequence[bytes]) -> Run | None:
        """Read the bytes between the first and the last piece of events, up to the first event that does not match."""
        data = _END.join(insides) + _END
        if data.count(_END) != len(insides):
            return None
        for piece, mark in self._between:
            if mark in data:
                return None
            data = data.replace(piece, mark)
        match = self._match(data)
        return self._valued(match[0]) if match else None

    def _valued(self, data: bytes) -> Run | None:
        if not _is_utf8(data):
            return None
        values = self._find(data)
        if len(self._captured) == 1:
            return Run(self, values, ())
        columns = dict(zip(self._captured, zip(*values, strict=True), strict=True))
        return Run(self, columns["text"], columns["padding"])


_is_text = re.compile(PATTERNS["text"]).fullmatch


def _is_utf8(data: bytes) -> bool:
    """Return whether bytes can be JSON. The parser refuses others."""
    if data.isascii():
        return True
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


@cache
def _patterns(names: tuple[str, ...]) -> tuple[Any, Any]:
    """Return the function that matches the insides of a run, and the function that lists their values."""
    event = PATTERNS[names[0]]
    for mark, name in zip(_MARKS, names[1:], strict=False):
        event += mark + PATTERNS[name]
    return re.compile(b"(?:%b%b)+" % (event, _END)).match, re.compile(event + _END).findall
