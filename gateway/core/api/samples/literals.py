"""Writes JSON values as literals of a programming language."""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

LINE_MAX = 88
GROUPED_FROM = 10_000
_IDENTIFIER = re.compile(r"[A-Za-z_$][\w$]*")


@dataclass(frozen=True, slots=True)
class Expression:
    """A value that the program computes, written as it stands: `key.jwk`."""

    text: str


@dataclass(frozen=True, slots=True)
class Notation:
    """How a language writes constants, how far it indents, and whether names of members need no quotes and braces want spaces."""

    constants: Mapping[Any, str]
    indent: int
    has_bare_names: bool

    def literal(self, value: Any, depth: int = 0, used: int = 0) -> str:
        """Write a value on one line where it fits, else with a line for each of its parts. `used` is what the first line holds
        already."""
        line = self._line(value)
        if len(line) + used + depth * self.indent <= LINE_MAX or not isinstance(value, dict | list) or not value:
            return line
        begin, end = "{}" if isinstance(value, dict) else "[]"
        inner, outer = " " * (self.indent * (depth + 1)), " " * (self.indent * depth)
        parts = (f"{inner}{name}{self.literal(part, depth + 1, len(name))},\n" for name, part in self._parts(value))
        return f"{begin}\n{''.join(parts)}{outer}{end}"

    def _line(self, value: Any) -> str:
        match value:
            case None | bool():
                return self.constants[value]
            case Expression():
                return value.text
            case int():
                return f"{value:_}" if value >= GROUPED_FROM else str(value)
            case dict():
                written = ", ".join(f"{name}{self._line(part)}" for name, part in self._parts(value))
                return f"{{ {written} }}" if self.has_bare_names and written else f"{{{written}}}"
            case list():
                return f"[{', '.join(self._line(part) for part in value)}]"
        return json.dumps(value, ensure_ascii=False)

    def _parts(self, value: dict[str, Any] | list[Any]) -> Iterator[tuple[str, Any]]:
        """Yield what stands before each part, and the part."""
        if isinstance(value, list):
            yield from (("", part) for part in value)
            return
        for name, part in value.items():
            is_bare = self.has_bare_names and _IDENTIFIER.fullmatch(name)
            yield (f"{name}: " if is_bare else f"{json.dumps(name)}: "), part


PYTHON = Notation({None: "None", True: "True", False: "False"}, indent=4, has_bare_names=False)
TYPESCRIPT = Notation({None: "null", True: "true", False: "false"}, indent=2, has_bare_names=True)
