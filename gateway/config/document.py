"""Reads YAML into plain values and records the line of each value.

Only the parser and composer of PyYAML's safe loader are used: no tag creates an object. Scalars follow YAML 1.2's core
schema, so that `no`, `010` and `12:30` are text and nothing is guessed. Size, depth and the number of values are
bounded; values are counted after aliases are expanded, because aliases let a small file expand enormously.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import yaml
from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from gateway.config.problems import ConfigError, Path, Problem

FILE_MAX_BYTES = 256 * 1024
VALUES_MAX = 50_000
DEPTH_MAX = 32
NUMBER_MAX = {"int": 18, "float": 24}
"""The most characters of a number. No float that is written in full has more."""

TAG = "tag:yaml.org,2002:"


class _Loader(yaml.SafeLoader):
    yaml_implicit_resolvers: dict[str, list[tuple[str, re.Pattern[str]]]] = {}


IMPLICIT = (
    (f"{TAG}null", re.compile(r"(?:~|null|)\Z"), ["~", "n", ""]),
    (f"{TAG}bool", re.compile(r"(?:true|false)\Z"), ["t", "f"]),
    (f"{TAG}int", re.compile(r"[-+]?(?:0|[1-9][0-9_]*)\Z"), list("-+0123456789")),
    (
        f"{TAG}float",
        re.compile(r"[-+]?(?:(?:\.[0-9]+|[0-9]+\.[0-9]*)(?:[eE][-+]?[0-9]+)?|[0-9]+[eE][-+]?[0-9]+)\Z"),
        list("-+.0123456789"),
    ),
)
"""What a plain scalar stands for if it is not text: a tag, the pattern, and the first characters that it may have."""

for _implicit in IMPLICIT:
    _Loader.add_implicit_resolver(*_implicit)


@dataclass(frozen=True, slots=True)
class Document:
    """The value of a file (a mapping) and the line, from 1, of each path in it."""

    value: dict[str, Any]
    lines: Mapping[Path, int]

    def problem(self, path: Path, text: str) -> Problem:
        """Build a problem at the line of the path, or of its nearest ancestor in the file."""
        known = next((path[:end] for end in range(len(path), 0, -1) if path[:end] in self.lines), ())
        return Problem(self.lines.get(known, 1), path, text)


def read(content: bytes) -> Document:
    """Parse one YAML document, or raise ConfigError. An empty one is an empty mapping."""
    if len(content) > FILE_MAX_BYTES:
        raise _error(1, f"larger than {FILE_MAX_BYTES // 1024} KiB")
    node = _compose(_decode(content))
    if node is None or _is_null(node):
        return Document({}, {})
    if not isinstance(node, MappingNode):
        raise _error(_line(node), "the file must be a mapping of sections")
    reader = _Reader()
    value = reader.mapping(node, ())
    if reader.problems:
        raise ConfigError(reader.problems)
    return Document(value, reader.lines)


def from_value(value: dict[str, Any]) -> Document:
    """Wrap a configuration that this program built itself and that has no lines."""
    return Document(value, {(): 0})


@dataclass(slots=True)
class _Reader:
    lines: dict[Path, int] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)
    values: int = 0

    def value(self, node: Node, path: Path) -> Any:
        self._bound(node, path)
        if isinstance(node, MappingNode) and node.tag == f"{TAG}map":
            return self.mapping(node, path)
        if isinstance(node, SequenceNode) and node.tag == f"{TAG}seq":
            return self._sequence(node, path)
        if isinstance(node, ScalarNode):
            return self._scalar(node, path)
        return self._refuse(node, path, "this tag is not supported")

    def mapping(self, node: MappingNode, path: Path) -> dict[str, Any]:
        members: dict[str, Any] = {}
        for key_node, value_node in node.value:
            if not isinstance(key_node, ScalarNode) or not _storable(key_node.value):
                self._refuse(key_node, path, "a key must be plain text")
                continue
            key = key_node.value
            place = (*path, key)
            if key in members:
                self._refuse(key_node, place, f"duplicate key, first on line {self.lines[place]}")
                continue
            self.lines[place] = _line(key_node)
            members[key] = self.value(value_node, place)
        return members

    def _sequence(self, node: SequenceNode, path: Path) -> list[Any]:
        items = []
        for index, item in enumerate(node.value):
            self.lines[*path, index] = _line(item)
            items.append(self.value(item, (*path, index)))
        return items

    def _scalar(self, node: ScalarNode, path: Path) -> Any:
        text = node.value
        match node.tag.removeprefix(TAG):
            case "str" if _storable(text):
                return text
            case "str":
                return self._refuse(node, path, "text must not contain NUL or half of a surrogate pair")
            case "null":
                return None
            case "bool" if text in ("true", "false"):
                return text == "true"
            case "int" | "float" as kind:
                return self._number(node, path, kind)
        return self._refuse(node, path, "this tag is not supported")

    def _number(self, node: ScalarNode, path: Path, kind: str) -> Any:
        if len(node.value) > NUMBER_MAX[kind]:
            return self._refuse(node, path, f"a number may have at most {NUMBER_MAX[kind]} characters (text: quote it)")
        try:
            return int(node.value) if kind == "int" else float(node.value)
        except ValueError:
            return self._refuse(node, path, "not a number")

    def _bound(self, node: Node, path: Path) -> None:
        self.values += 1
        if len(path) > DEPTH_MAX:
            raise _error(_line(node), f"nested more than {DEPTH_MAX} levels deep")
        if self.values > VALUES_MAX:
            raise _error(_line(node), f"more than {VALUES_MAX} values")

    def _refuse(self, node: Node, path: Path, text: str) -> Any:
        self.problems.append(Problem(_line(node), path, text))
        return None


def _decode(content: bytes) -> str:
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise _error(content[: error.start].count(b"\n") + 1, "not UTF-8") from None


def _compose(text: str) -> Node | None:
    """Parse, reporting a syntax error's line. PyYAML's own message is omitted: it quotes the line, which may hold a
    secret."""
    try:
        return yaml.compose(text, Loader=_Loader)
    except yaml.reader.ReaderError as error:
        raise _error(text[: error.position].count("\n") + 1, "control character") from None
    except yaml.composer.ComposerError as error:
        raise _error(
            _mark_line(error), "an alias without its anchor, a duplicate anchor, or a second document"
        ) from None
    except yaml.MarkedYAMLError as error:
        raise _error(_mark_line(error), f"not YAML: {error.problem or 'syntax error'}") from None
    except (yaml.YAMLError, ValueError, OverflowError):
        raise _error(1, "not YAML") from None
    except RecursionError:
        raise _error(1, f"nested more than {DEPTH_MAX} levels deep") from None


def _mark_line(error: yaml.MarkedYAMLError) -> int:
    mark = error.problem_mark or error.context_mark
    return mark.line + 1 if mark else 1


def _storable(text: str) -> bool:
    """Return whether PostgreSQL can store the text: no NUL, no lone surrogate."""
    return "\0" not in text and not any("\ud800" <= character <= "\udfff" for character in text)


def _is_null(node: Node) -> bool:
    return isinstance(node, ScalarNode) and node.tag == f"{TAG}null"


def _line(node: Node) -> int:
    return int(node.start_mark.line) + 1


def _error(line: int, text: str) -> ConfigError:
    return ConfigError([Problem(line, (), text)])
