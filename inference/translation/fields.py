"""Reads and validates the members of a request, and names the one at fault."""

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from gateway.core.contract.errors import InvalidRequest


def unsupported(path: str) -> InvalidRequest:
    """Build the error for a member that the model's provider cannot express."""
    return InvalidRequest(f"This model does not support {path}.", param=path)


def expected(path: str, what: str) -> InvalidRequest:
    """Build the error for a member with an invalid value."""
    return InvalidRequest(f"{path} must be {what}.", param=path)


def joined(path: str, name: str | int) -> str:
    """Return the path of a member within another."""
    return f"{path}.{name}" if path else str(name)


def read_text(members: Mapping[str, Any], name: str, path: str = "") -> str:
    """Read a text, or raise InvalidRequest."""
    value = members.get(name)
    if not isinstance(value, str):
        raise expected(joined(path, name), "a text")
    return value


def read_optional_text(members: Mapping[str, Any], name: str, path: str = "") -> str | None:
    """Read an optional text, which may be null, or raise InvalidRequest."""
    return None if members.get(name) is None else read_text(members, name, path)


def read_optional_flag(members: Mapping[str, Any], name: str, path: str = "") -> bool | None:
    """Read an optional boolean, or raise InvalidRequest."""
    value = members.get(name)
    if not (value is None or isinstance(value, bool)):
        raise expected(joined(path, name), "true or false")
    return value


def read_optional_count(members: Mapping[str, Any], name: str, path: str = "") -> int | None:
    """Read an optional non-negative integer, or raise InvalidRequest."""
    value = members.get(name)
    if not (value is None or (type(value) is int and value >= 0)):
        raise expected(joined(path, name), "a whole number")
    return value


def read_object(members: Mapping[str, Any], name: str, path: str = "") -> Mapping[str, Any]:
    """Read an object, or raise InvalidRequest."""
    value = members.get(name)
    if not isinstance(value, dict):
        raise expected(joined(path, name), "an object")
    return value


def read_optional_object(members: Mapping[str, Any], name: str, path: str = "") -> Mapping[str, Any] | None:
    """Read an optional object, which may be null, or raise InvalidRequest."""
    return None if members.get(name) is None else read_object(members, name, path)


def objects_in(members: Mapping[str, Any], name: str, path: str = "") -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield the objects of an optional list with their paths. Raises InvalidRequest."""
    values, path = members.get(name), joined(path, name)
    if values is None:
        return
    if not isinstance(values, list):
        raise expected(path, "a list")
    for index, value in enumerate(values):
        if not isinstance(value, dict):
            raise expected(joined(path, index), "an object")
        yield joined(path, index), value


def refuse_others(members: Mapping[str, Any], known: Collection[str], path: str = "") -> None:
    """Raise InvalidRequest naming the first unknown member that is not null."""
    for name, value in members.items():
        if name not in known and value is not None:
            raise unsupported(joined(path, name))
