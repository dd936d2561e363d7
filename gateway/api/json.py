"""Strict JSON in, fast JSON out.

RFC 8259 leaves duplicate names, unpaired surrogates, depth and size to the receiver; two readers of one body must never
disagree on what was paid for, so all of these are bounded or refused.
"""

import json
import re
from collections.abc import Callable, Iterable
from typing import Any, NoReturn

import orjson

from gateway.api.json_size import has_more_values
from gateway.api.offload import is_large, offload
from gateway.contract.errors import InvalidJson
from gateway.contract.limits import JSON_DEPTH_MAX, MODEL_JSON_VALUES_MAX

dumps = orjson.dumps

# What every JSON writer on the way can carry as a number.
_INT_MIN, _INT_MAX = -(2**63), 2**64 - 1
_SURROGATE_ESCAPE = re.compile(rb"\\u[dD][89a-fA-F]")


def strict_loads(body: bytes, values_max: int = MODEL_JSON_VALUES_MAX, *, long_integers: bool = True) -> dict[str, Any]:
    """Parse a JSON object, or raise InvalidJson.

    Refuses duplicate names, NaN, lone surrogates, depth over 64, and more than `values_max` members and elements before
    any of them takes memory. An integer beyond 64 bits is read as an `orjson.Fragment`: no number to anyone who asks
    for one, and written out again as it came; without `long_integers` it is refused.
    """
    if has_more_values(body, values_max):
        raise InvalidJson(f"The body has more than {values_max:,} members and elements.")
    try:
        text = body.decode("utf-8")
        value = (_DECODER if long_integers else _DECODER_OF_64_BITS).decode(text)
        if _SURROGATE_ESCAPE.search(body):
            orjson.dumps(value)  # orjson refuses lone surrogates
        if isinstance(value, dict):
            _check_depth(value, body)
    except (ValueError, RecursionError, TypeError) as error:
        raise InvalidJson(private=str(error)) from error
    if not isinstance(value, dict):
        raise InvalidJson("The body must be a JSON object.")
    return value


async def strict_loads_async(body: bytes) -> dict[str, Any]:
    """Parse like `strict_loads`; a large body is parsed beside the event loop."""
    return await offload(strict_loads, body) if is_large(body) else strict_loads(body)


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


def _read_int(digits: str) -> int | orjson.Fragment:
    if len(digits) <= 20 and _INT_MIN <= (value := int(digits)) <= _INT_MAX:
        return value
    return orjson.Fragment(digits)


def _read_int_of_64_bits(digits: str) -> int:
    value = _read_int(digits)
    if not isinstance(value, int):
        raise ValueError("integer out of range")
    return value


def _finite_float(text: str) -> float:
    value = float(text)
    if value in (float("inf"), float("-inf")):
        raise ValueError("number out of range")
    return value


def _decoder(parse_int: Callable[[str], Any]) -> json.JSONDecoder:
    return json.JSONDecoder(
        object_pairs_hook=_unique, parse_constant=_refuse_constant, parse_int=parse_int, parse_float=_finite_float
    )


_DECODER, _DECODER_OF_64_BITS = _decoder(_read_int), _decoder(_read_int_of_64_bits)
