"""Converts values to and from PostgreSQL's wire formats, for the few types that the ledger's functions use."""

import struct
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any

import orjson
from psycopg import DataError
from psycopg.types.json import Json, Jsonb
from psycopg.types.numeric import Int8

_TEXT, _BINARY = 0, 1
_BOOL, _BYTEA, _INT8, _INT2, _INT4, _JSON, _JSONB = 16, 17, 20, 21, 23, 114, 3802

Decoder = Callable[[bytes], Any]


class Blobs(tuple[bytes | None, ...]):
    """A `bytea[]`, or NULL if all its elements are None."""


class Elements(tuple[bytes, ...]):
    """The elements of a JSON array, each already serialized."""


def encode(values: Sequence[Any]) -> tuple[list[bytes | None], list[int]]:
    """Encode parameters with their formats. Raises DataError for a value that PostgreSQL cannot store."""
    formats = [_BINARY if type(value) in (bytes, Blobs) else _TEXT for value in values]
    return [_ENCODERS.get(type(value), _other)(value) for value in values], formats


def _text(value: str) -> bytes:
    data = value.encode()
    if b"\0" in data:
        raise DataError("a text contains a NUL character")
    return data


def _array(value: Sequence[str]) -> bytes:
    return b"{" + b",".join(_element(item) for item in value) + b"}"


def _element(item: str) -> bytes:
    return b'"' + _text(item).replace(b"\\", b"\\\\").replace(b'"', b'\\"') + b'"'


def _blobs(value: Blobs) -> bytes | None:
    """Write PostgreSQL's binary format of an array: dimensions, whether there are NULLs, type, length, lower bound."""
    if value.count(None) == len(value):
        return None
    parts = [struct.pack("!5i", 1, 1, _BYTEA, len(value), 1)]
    for item in value:
        parts.append(struct.pack("!i", -1 if item is None else len(item)))
        parts.append(item or b"")
    return b"".join(parts)


def _other(value: Any) -> bytes:
    """Encode a value of a subclass."""
    for kind in (str, bool, int):
        if isinstance(value, kind):
            encoded = _ENCODERS[kind](value)
            assert encoded is not None
            return encoded
    raise DataError(f"cannot send a {type(value).__name__}")


_ENCODERS: dict[type, Callable[[Any], bytes | None]] = {
    type(None): lambda value: None,
    str: _text,
    bytes: lambda value: value,
    Blobs: _blobs,
    Elements: lambda value: b"[" + b",".join(value) + b"]",
    bool: lambda value: b"t" if value else b"f",
    int: lambda value: b"%d" % value,
    Int8: lambda value: b"%d" % value,
    datetime: lambda value: value.isoformat().encode(),
    Json: lambda value: orjson.dumps(value.obj),
    Jsonb: lambda value: orjson.dumps(value.obj),
    list: _array,
    tuple: _array,
}


def decoder(type_oid: int) -> Decoder:
    """Return the decoder for a column type. Unknown types are decoded as text."""
    return _DECODERS.get(type_oid, bytes.decode)


_DECODERS: dict[int, Decoder] = {
    _BOOL: lambda value: value == b"t",
    _BYTEA: lambda value: bytes.fromhex(value[2:].decode()),
    _INT2: int,
    _INT4: int,
    _INT8: int,
    _JSON: orjson.loads,
    _JSONB: orjson.loads,
}
