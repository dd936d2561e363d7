"""An honest object with one of its values replaced, wherever that stands."""

from collections.abc import Iterator
from typing import Any

from tests.support.upstream.usage import Infinite

DEEP: Any = 0
for _ in range(100):
    DEEP = [DEEP]

VALUES: tuple[Any, ...] = (None, True, -1, 1.5, 10**30, Infinite("inf"), "", "\x00", [], {}, [None], {"": None}, DEEP)
"""What is put in a value's place; Infinity is not JSON, but some write it."""


def spoiled(honest: Any) -> Iterator[Any]:
    """Yield the object once for each value and each place: a member, an element, one element too few, one twice."""
    for at, value in _places(honest):
        for other in VALUES:
            yield _with(honest, at, other)
        if isinstance(value, list):
            yield _with(honest, at, value[1:])
            yield _with(honest, at, [*value, *value])
    yield from ({name: honest[name] for name in honest if name != left_out} for left_out in honest)


def _places(value: Any, at: tuple[Any, ...] = ()) -> Iterator[tuple[tuple[Any, ...], Any]]:
    """Yield every place below a value with what is there; of a list, the first element alone."""
    inner = value.items() if isinstance(value, dict) else enumerate(value[:1]) if isinstance(value, list) else ()
    for name, below in inner:
        yield (*at, name), below
        yield from _places(below, (*at, name))


def _with(value: Any, at: tuple[Any, ...], other: Any) -> Any:
    if not at:
        return other
    name, *rest = at
    if isinstance(value, dict):
        return {**value, name: _with(value[name], tuple(rest), other)}
    return [_with(below, tuple(rest), other) if index == name else below for index, below in enumerate(value)]
