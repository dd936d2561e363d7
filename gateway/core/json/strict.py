"""Parses JSON strictly and renders it fast.

RFC 8259 leaves duplicate names, unpaired surrogates, depth and size to the receiver. Two readers of one body must never
disagree about what is charged, so all of these are bounded or refused.
"""

import json
import math
import re
from collections.abc import Callable
from typing import Any, NoReturn

import orjson

from gateway.core.contract.errors import InvalidJson
from gateway.core.contract.limits import JSON_DEPTH_MAX, MODEL_JSON_VALUES_MAX
from gateway.core.json.parts import bound_values, count_values, count_values_of, divide
from gateway.core.json.pieces import PIECE_CHARACTERS
from gateway.core.json.reading import read_parts

dumps = orjson.dumps

# The range of numbers that every JSON writer involved can represent.
_INT_MIN, _INT_MAX = -(2**63), 2**64 - 1
_DIGITS = re.compile(r"-?\d+")

UNDIVIDED_BYTES = 256 * 1024
"""A text up to this size is parsed in a few milliseconds."""


def strict_loads(body: bytes, values_max: int = MODEL_JSON_VALUES_MAX, *, long_integers: bool = True) -> dict[str, Any]:
    """Parse a JSON object, or raise InvalidJson.

    Refuses duplicate names, NaN, lone surrogates, depth over 64, and more than `values_max` members and elements before
    they take memory. An integer beyond 64 bits is returned as an `orjson.Fragment`, which is not a number and is
    written unchanged; without `long_integers` it is refused.
    """
    exact = _DECODER if long_integers else _DECODER_OF_64_BITS
    try:
        if len(body) > UNDIVIDED_BYTES:
            value = _read_divided(body, values_max, exact)
        elif has_more_values(body, values_max):
            raise _too_many_values(values_max)
        else:
            value = _read(body, exact)
    except (ValueError, TypeError, RecursionError) as error:
        raise InvalidJson(private=str(error)) from error
    if not isinstance(value, dict):
        raise InvalidJson("The body must be a JSON object.")
    return value


def loads(text: bytes) -> Any:
    """Parse JSON that this gateway wrote, a large text in parts. Raises orjson.JSONDecodeError."""
    return read_parts(text, divide(text), orjson.loads) if len(text) > UNDIVIDED_BYTES else orjson.loads(text)


def has_more_values(body: bytes, most: int) -> bool:
    """Return whether the objects and arrays of a JSON text have more than `most` members and elements in total.

    Cheap bounds come first, so that an ordinary body costs only a check of its length. In an invalid text, what comes
    before its first error is counted.
    """
    if len(body) <= 2 * most or bound_values(body) <= most:  # a value takes a byte, and a separator another
        return False
    body = _without_escapes(body)
    if body.count(b'"') > 4 * most:  # a member has at most two strings, with two quotation marks each
        return True
    return count_values(_without_strings(body)) > most


def _read_divided(body: bytes, values_max: int, exact: json.JSONDecoder) -> Any:
    parts = list(divide(body))
    if count_values_of(parts) > values_max:
        raise _too_many_values(values_max)
    return read_parts(body, parts, lambda text: _read(text, exact))


def _too_many_values(values_max: int) -> InvalidJson:
    return InvalidJson(f"The body has more than {values_max:,} members and elements.")


def _read(body: bytes, exact: json.JSONDecoder) -> Any:
    """Parse a value. Raises ValueError for invalid JSON, excessive depth or duplicate names.

    orjson reads an integer beyond 64 bits as a float, and refuses it if it is too large for one.
    """
    try:
        value = orjson.loads(body)
        members, has_large_floats = _survey(value)
    except orjson.JSONDecodeError as error:
        if not _is_integer(error.doc, error.pos):
            raise
        has_large_floats = True
    if has_large_floats:
        value = exact.decode(body.decode())
        orjson.dumps(value)  # refuses lone surrogates
        members, _ = _survey(value)
    if not _has_members(body, members):
        raise ValueError("duplicate member name")
    return value


def _has_members(body: bytes, members: int) -> bool:
    """Return whether the objects of a well-formed JSON text have at least `members` members: names are followed by
    colons.

    A reader that keeps only one of several members with the same name returns fewer of them.
    """
    return body.count(b":") == members or _without_strings(_without_escapes(body)).count(b":") == members


def _without_escapes(body: bytes) -> bytes:
    return body.replace(b"\\\\", b"").replace(b'\\"', b"") if b"\\" in body else body


def _without_strings(body: bytes) -> bytes:
    """Return a text's structure, with a quotation mark for each string."""
    return b'"'.join(body.split(b'"')[::2]).translate(None, b" \t\r\n")


def _is_integer(text: str, start: int) -> bool:
    """Return whether a number without fraction and exponent starts here; a long one is scanned piece by piece."""
    end = start
    while digits := _DIGITS.match(text, end, end + PIECE_CHARACTERS):
        end = digits.end()
    return end > start and text[end : end + 1] not in (".", "e", "E")


def _survey(value: Any) -> tuple[int, bool]:
    """Return the total number of members of all objects, and whether there is a float beyond 64 bits. Raises ValueError
    if the value is nested too deeply."""
    members, has_large_floats, level = 0, False, [value]
    for depth in range(JSON_DEPTH_MAX + 1):
        inner: list[Any] = []
        for item in level:
            kind = type(item)
            if kind is dict:
                members += len(item)
                inner += item.values()
            elif kind is list:
                inner += item
            elif kind is float and not _INT_MIN < item < _INT_MAX:
                has_large_floats = True
        if not inner and (depth < JSON_DEPTH_MAX or not any(type(item) in (dict, list) for item in level)):
            return members, has_large_floats
        level = inner
    raise ValueError("nested too deeply")


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
    if math.isinf(value):
        raise ValueError("number out of range")
    return value


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


def _decoder(parse_int: Callable[[str], Any]) -> json.JSONDecoder:
    return json.JSONDecoder(parse_int=parse_int, parse_float=_finite_float, parse_constant=_refuse_constant)


_DECODER, _DECODER_OF_64_BITS = _decoder(_read_int), _decoder(_read_int_of_64_bits)
