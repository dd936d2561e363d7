"""Reads a large JSON text part by part, so that no call holds the interpreter's lock for long.

A part is completed to a valid text by opening the containers in which it begins and closing those in which it ends. Its
first and last comma stay, with a placeholder value beside each, so that all parts are JSON only if the whole text is.
"""

from collections.abc import Callable, Iterable
from contextlib import suppress
from secrets import token_hex
from typing import Any

import orjson

from gateway.core.contract.limits import JSON_DEPTH_MAX
from gateway.core.json.parts import WINDOW_BYTES, Part

_NAME = token_hex(16)
"""The prefix of placeholder names and texts. No client knows it."""

_BEFORE, _AFTER = f"{_NAME}-before", f"{_NAME}-after"
_OPENINGS = {ord("["): b"[", ord("{"): b'{"%b":' % _BEFORE.encode()}
_CLOSINGS = {ord("["): (b",0]", b"]"), ord("{"): (b',"%b":0}' % _AFTER.encode(), b"}")}
_PAIRS = {ord("]"): ord("["), ord("}"): ord("{")}

_ESCAPE_MAX_BYTES = 12
"""The longest form of one character: a surrogate pair. Its UTF-8 form has at most four."""

Container = Any


def read_parts(body: bytes, parts: Iterable[Part], read: Callable[[bytes], Any]) -> Any:
    """Return what `read` would return for the whole text. `read` refuses duplicate names. Raises ValueError as it
    does."""
    tree: Any = None
    opened: list[Container] = []  # the containers in which the next part begins
    brackets: list[int] = []  # and their brackets
    for part in parts:
        after = _follow(brackets, part.brackets) if part.end < len(body) else []
        text = _completed(brackets, _with_long_strings_replaced(body, part), after)
        value = _with_long_strings(read(text), body, part)
        left, right = _edge(value, len(brackets), first=True), _edge(value, len(after), first=False)
        _remove_ours(left, right)
        for container, more in zip(opened, left, strict=True):
            _extend(container, more)
        tree = value if part.start == 0 else tree
        ours = {id(more): container for container, more in zip(opened, left, strict=True)}
        opened = [ours.get(id(container), container) for container in right]
        brackets = after
    return tree


def _follow(opened: list[int], brackets: bytes) -> list[int]:
    """Return the unclosed opening brackets after some more brackets. Raises ValueError if they do not match."""
    opened = opened.copy()
    for bracket in brackets:
        if bracket not in _PAIRS:
            opened.append(bracket)
        elif not opened or opened.pop() != _PAIRS[bracket]:
            raise ValueError("a bracket that closes nothing")
    if not 0 < len(opened) <= JSON_DEPTH_MAX:
        raise ValueError("a comma outside of containers, or nested too deeply")
    return opened


def _completed(before: list[int], text: bytes, after: list[int]) -> bytes:
    opening = b"".join([_OPENINGS[bracket] for bracket in before]) + b"0," if before else b""
    closing = [_CLOSINGS[bracket][outer > 0] for outer, bracket in enumerate(reversed(after))]
    return b"".join([opening, text, *closing])


def _edge(value: Any, depth: int, *, first: bool) -> list[Container]:
    """Return a value's first or last containers of this many levels, outermost first."""
    edge: list[Container] = []
    for _ in range(depth):
        edge.append(value)
        members = value if type(value) is list else value.values()
        value = next(iter(members) if first else reversed(members))
    return edge


def _remove_ours(left: list[Container], right: list[Container]) -> None:
    """Remove the placeholders, and the containers that start another part's."""
    for container in left:
        del container[_BEFORE if type(container) is dict else 0]
    for container in right[-1:]:
        del container[_AFTER if type(container) is dict else -1]


def _extend(container: Container, more: Container) -> None:
    if type(container) is list:
        container += more
    elif container.keys().isdisjoint(more):
        container.update(more)
    else:
        raise ValueError("duplicate member name")


def _with_long_strings_replaced(body: bytes, part: Part) -> bytes:
    pieces, at = list[bytes](), part.start
    for number, (start, end) in enumerate(part.long_strings):
        pieces += [body[at:start], b"%b-%d" % (_NAME.encode(), number)]
        at = end
    return b"".join([*pieces, body[at : part.end]])


def _with_long_strings(value: Any, body: bytes, part: Part) -> Any:
    """Insert a part's long strings, and return the value. Two long names of one object are always separated by a comma,
    and therefore in different parts."""
    strings = {f"{_NAME}-{number}": _read_string(body, *at) for number, at in enumerate(part.long_strings)}
    value, level = _replaced(value, strings), [value] if strings else []
    while level:
        inner: list[Container] = []
        for container in level:
            if type(container) is list:
                container[:] = [_replaced(item, strings) for item in container]
                inner += container
            elif type(container) is dict:
                members = [(_replaced(name, strings), _replaced(item, strings)) for name, item in container.items()]
                container.clear()
                container.update(members)
                inner += container.values()
        level = inner
    return value


def _replaced(item: Any, strings: dict[str, str]) -> Any:
    return strings.get(item, item) if type(item) is str else item


def _read_string(body: bytes, start: int, end: int) -> str:
    """Read the content of a string. Raises ValueError if it is not well formed."""
    pieces = list[str]()
    while start < end:
        piece, start = _read_piece(body, start, min(start + WINDOW_BYTES, end))
        pieces.append(piece)
    return "".join(pieces)


def _read_piece(body: bytes, start: int, end: int) -> tuple[str, int]:
    """Read a piece of a string that ends with a whole character, and return it with the position of its end."""
    for at in range(end, max(start, end - _ESCAPE_MAX_BYTES), -1):
        with suppress(orjson.JSONDecodeError):
            return orjson.loads(b'"%b"' % body[start:at]), at
    raise ValueError("a string that is not well formed")
