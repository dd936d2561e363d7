"""Learns and applies the templates of one stream."""

import re
import secrets
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any

import orjson

from inference.adapters.templates.forms import Form, Path, replaced, value_at
from inference.adapters.templates.template import PATTERNS, Run, Template

TEMPLATES_MAX = 4
"""The most templates of a stream. A stream with several choices alternates between their events."""

FIRST_TRY = 8
"""A template is made from the eighth plain event that matches none, then from the sixteenth, and so on. Making one takes as
long as translating thirty events, and some streams never repeat an event."""

Dump = Callable[[Mapping[str, Any]], bytes]

_PREFIX = re.compile(rb"(?:event: [^\n]*\n)?data: ")


class Templates:
    """The templates of a stream that is read in one form, and written in the same or another form."""

    def __init__(self, read: Form, write: Form, dump: Dump) -> None:
        self._read = read
        self._write = write
        self._dump = dump
        self._known: list[Template] = []
        self._missed = 0
        self._next_try = FIRST_TRY

    def run(self, blocks: Sequence[bytes]) -> Run | None:
        """Return the longest prefix of `blocks` that matches a known template, or None if not even the first block does."""
        for template in self._known:
            if run := template.run(blocks):
                return run
        return None

    def learn(self, block: bytes, data: bytes, event: Mapping[str, Any], size_bytes: int) -> None:
        """Learn from a plain event: its bytes, its data, the event that was written for it, and how many bytes of output were
        counted in it."""
        self._missed += 1
        if self._missed < self._next_try:
            return
        self._next_try *= 2
        with suppress(orjson.JSONDecodeError, orjson.JSONEncodeError):
            if template := self._made(block, data, event, size_bytes):
                self._known = [template, *self._known][:TEMPLATES_MAX]

    def forget(self) -> None:
        """Discard all templates, because the events that they write are no longer correct."""
        self._known, self._missed, self._next_try = [], 0, FIRST_TRY

    def _made(self, block: bytes, data: bytes, event: Mapping[str, Any], size_bytes: int) -> Template | None:
        secret = secrets.token_hex(40)
        probes = {"text": secret[:32], "padding": secret[32:64], "number": 10**15 + int(secret[64:], 16) % 10**15}
        prefix = block.removesuffix(data)
        read, written = self._read.values(orjson.loads(data)), self._write.values(event)
        if not (read and written and _PREFIX.fullmatch(prefix)):
            return None
        if len(value_at(event, written["text"]).encode()) != size_bytes:
            return None  # something else was counted, too
        spans = _spans(data, read, probes)
        if spans is None:
            return None
        layout = _layout(self._dump(replaced(event, {path: probes[name] for name, path in written.items()})), probes)
        pieces, names = _cut(data, spans)
        return Template([prefix + pieces[0], *pieces[1:]], names, *layout, dict(event))


def _spans(data: bytes, paths: Mapping[str, Path], probes: Mapping[str, Any]) -> list[tuple[int, int, str]] | None:
    """Return the spans of the values in an event's bytes, in order, or None if they are not certain."""
    spans = []
    for name, path in paths.items():
        found = list(re.finditer(_member(name, path), data))
        if len(found) != 1:
            return None
        spans.append((*found[0].span("value"), name))
    spans.sort()
    pieces, names = _cut(data, spans)
    tried = b"".join(
        [pieces[0], *(str(probes[name]).encode() + piece for name, piece in zip(names, pieces[1:], strict=True))]
    )
    is_sure = orjson.loads(tried) == replaced(orjson.loads(data), {path: probes[name] for name, path in paths.items()})
    return spans if is_sure else None


def _member(name: str, path: Path) -> bytes:
    """Return the pattern that matches a member with its value."""
    quote = b"" if name == "number" else b'"'
    return rb'"%b"\s*:\s*%b(?P<value>%b)%b' % (str(path[-1]).encode(), quote, PATTERNS[name], quote)


def _cut(data: bytes, spans: Sequence[tuple[int, int, str]]) -> tuple[list[bytes], list[str]]:
    starts = [0, *(end for _, end, _ in spans)]
    ends = [*(start for start, _, _ in spans), len(data)]
    return [data[start:end] for start, end in zip(starts, ends, strict=True)], [name for _, _, name in spans]


def _layout(written: bytes, probes: Mapping[str, Any]) -> tuple[bytes, list[str]]:
    """Return the written bytes with placeholders for the values, and the values' names in order."""
    places = {name: str(probe).encode() for name, probe in probes.items()}
    names = sorted((name for name in places if places[name] in written), key=lambda name: written.find(places[name]))
    layout = written.replace(b"%", b"%%")
    for name in names:
        layout = layout.replace(places[name], b"%d" if name == "number" else b"%b")
    return layout, names
