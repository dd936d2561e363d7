"""Nested parameters as the vendor's clients encode them: `line_items[0][price_data][currency]=usd`, `expand[]=charge`."""

import re
from typing import Any
from urllib.parse import parse_qsl

from tests.support.stripe.errors import Refusal

_NAME = re.compile(r"^([^\[\]]+)((?:\[[^\[\]]*\])*)$")
_PART = re.compile(r"\[([^\[\]]*)\]")


def parse(text: str) -> dict[str, Any]:
    """Parse a query or a form; objects with numeric or empty keys become lists."""
    tree: dict[str, Any] = {}
    for name, value in parse_qsl(text, keep_blank_values=True):
        _put(tree, _path(name), value)
    return {name: _with_lists(value) for name, value in tree.items()}


def _path(name: str) -> list[str]:
    found = _NAME.match(name)
    if found is None:
        raise Refusal(400, f"Invalid parameter name: {name}", param=name)
    return [found[1], *_PART.findall(found[2])]


def _put(tree: dict[str, Any], path: list[str], value: str) -> None:
    for part in path[:-1]:
        tree = tree.setdefault(part or str(len(tree)), {})
        if not isinstance(tree, dict):
            raise Refusal(400, f"Invalid object: {part}", param=part)
    tree[path[-1] or str(len(tree))] = value


def _with_lists(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    members = {name: _with_lists(member) for name, member in value.items()}
    if members and all(name.isdigit() for name in members):
        return [members[name] for name in sorted(members, key=int)]
    return members


def integer(params: dict[str, Any], name: str, default: int | None = None) -> int | None:
    """Read a whole number."""
    if name not in params:
        return default
    try:
        return int(params[name])
    except (TypeError, ValueError):
        raise Refusal(400, f"Invalid integer: {params[name]}", param=name, code="parameter_invalid_integer") from None
