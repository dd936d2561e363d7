"""Strict JSON in, fast JSON out.

RFC 8259 leaves duplicate names, unpaired surrogates and depth to the receiver; two readers of one body must never
disagree on what was paid for, so all three are refused.
"""

import json
import re
from collections.abc import Iterable
from typing import Any, NoReturn

import orjson

from gateway.contract.errors import InvalidJson
from gateway.contract.limits import JSON_DEPTH_MAX

dumps = orjson.dumps

# What every JSON writer on the way can carry.
_INT_MIN, _INT_MAX = -(2**63), 2**64 - 1
_SURROGATE_ESCAPE = re.compile(rb"\\u[dD][89a-fA-F]")


def strict_loads(body: bytes) -> dict[str, Any]:
    """Parse a JSON object, or raise InvalidJson. Refuses duplicate names, NaN, lone surrogates and depth over 64."""
    try:
        text = body.decode("utf-8")
        value = _DECODER.decode(text)
        if _SURROGATE_ESCAPE.search(body):
            orjson.dumps(value)  # orjson refuses lone surrogates
        if isinstance(value, dict):
            _check_depth(value, body)
    except (ValueError, RecursionError, TypeError) as error:
        raise InvalidJson(private=str(error)) from error
    if not isinstance(value, dict):
        raise InvalidJson("The body must be a JSON object.")
    return value


def canonical(value: Any) -> bytes:
    """Render compact JSON with sorted names, so that equal values give equal bytes."""
    return orjson.dumps(value, option=orjson.OPT_SORT_KEYS)


def _check_depth(value: Any, body: bytes) -> None:
    if body.count(b"{") + body.count(b"[") <= JSON_DEPTH_MAX:
        return
    level = [value]
    for _ in range(JSON_DEPTH_MAX):
        level = [inner for outer in level for inner in _members(outer) if isinstance(inner, dict | list)]
        if not level:
            return
    raise ValueError("nested too deeply")


def _members(container: Any) -> Iterable[Any]:
    return container.values() if isinstance(container, dict) else container


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) != len(pairs):
        raise ValueError("duplicate member name")
    return members


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


def _bounded_int(digits: str) -> int:
    value = int(digits) if len(digits) <= 20 else _INT_MAX + 1
    if not _INT_MIN <= value <= _INT_MAX:
        raise ValueError("number out of range")
    return value


def _finite_float(text: str) -> float:
    value = float(text)
    if value in (float("inf"), float("-inf")):
        raise ValueError("number out of range")
    return value


_DECODER = json.JSONDecoder(
    object_pairs_hook=_unique,
    parse_constant=_refuse_constant,
    parse_int=_bounded_int,
    parse_float=_finite_float,
)
