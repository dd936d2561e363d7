"""Values to and from PostgreSQL's text format: the few types that the ledger's functions take and give."""

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any

import orjson
from psycopg import DataError
from psycopg.types.json import Json, Jsonb

_TEXT, _BINARY = 0, 1
_BOOL, _BYTEA, _INT8, _INT2, _INT4, _JSON, _JSONB = 16, 17, 20, 21, 23, 114, 3802

Decoder = Callable[[bytes], Any]


def encode(values: Sequence[Any]) -> tuple[list[bytes | None], list[int]]:
    """Encode parameters with their formats. Raises DataError for a text that PostgreSQL cannot hold."""
    encoded: list[bytes | None] = []
    formats = [_TEXT] * len(values)
    for index, value in enumerate(values):
        if isinstance(value, str):
            encoded.append(_text(value))
        elif value is None:
            encoded.append(None)
        elif isinstance(value, bytes):
            encoded.append(value)
            formats[index] = _BINARY
        else:
            encoded.append(_other(value))
    return encoded, formats


def _text(value: str) -> bytes:
    data = value.encode()
    if b"\0" in data:
        raise DataError("a text holds a NUL character")
    return data


def _other(value: Any) -> bytes:
    if isinstance(value, bool):
        return b"t" if value else b"f"
    if isinstance(value, int):
        return b"%d" % value
    if isinstance(value, datetime):
        return value.isoformat().encode()
    if isinstance(value, Json | Jsonb):
        return orjson.dumps(value.obj)
    if isinstance(value, list | tuple):
        return b"{" + b",".join(_element(item) for item in value) + b"}"
    raise DataError(f"no way to send a {type(value).__name__}")


def _element(item: str) -> bytes:
    return b'"' + _text(item).replace(b"\\", b"\\\\").replace(b'"', b'\\"') + b'"'


def decoder(type_oid: int) -> Decoder:
    """Give what reads a column of this type; text for every type that is not known here."""
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
