"""Defines the places of the values in which the events of a stream differ."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import orjson

Path = tuple[str | int, ...]

PADDING: Path = ("obfuscation",)
"""Random padding that the vendor adds to events, so that their length does not reveal their text."""

NUMBER: Path = ("sequence_number",)


class Form(NamedTuple):
    """The possible paths of an event's text, and whether the events of a stream are numbered."""

    texts: tuple[Path, ...]
    is_numbered: bool

    def values(self, event: Mapping[str, Any]) -> dict[str, Path] | None:
        """Map "text", "padding" and "number" to their paths in an event. Return None if it has no text, or several."""
        texts = [path for path in self.texts if isinstance(text := value_at(event, path), str) and text]
        if len(texts) != 1:
            return None
        found = {"text": texts[0]}
        if isinstance(value_at(event, PADDING), str):
            found["padding"] = PADDING
        if self.is_numbered and type(value_at(event, NUMBER)) is int:
            found["number"] = NUMBER
        return found


CHAT = Form(tuple(("choices", 0, "delta", name) for name in ("content", "reasoning_content", "reasoning")), False)
MESSAGES = Form(tuple(("delta", name) for name in ("text", "thinking", "partial_json")), False)
RESPONSES = Form((("delta",),), True)


def value_at(event: Any, path: Path) -> Any:
    """Return the value at a path, or None if there is none."""
    try:
        for name in path:
            event = event[name]
    except (KeyError, IndexError, TypeError):
        return None
    return event


def replaced(event: Mapping[str, Any], values: Mapping[Path, Any]) -> dict[str, Any]:
    """Return a copy of an event with the given values at their paths."""
    copy: dict[str, Any] = orjson.loads(orjson.dumps(event))
    for path, value in values.items():
        holder: Any = copy
        for name in path[:-1]:
            holder = holder[name]
        holder[path[-1]] = value
    return copy
