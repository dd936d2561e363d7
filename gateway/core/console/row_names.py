"""Names of rows that a table refers to by id and whose app it does not know. That app registers how they are named."""

from collections.abc import Callable

Namer = Callable[[str], str | None]

_namers: dict[str, Namer] = {}


def register(kind: str, namer: Namer) -> None:
    """Register how rows of a kind ("deployment") are named; the namer returns None for a row that is gone."""
    _namers[kind] = namer


def row_name(kind: str, row_id: str) -> str:
    """Return a row's name, or its id if it is gone."""
    namer = _namers.get(kind)
    return (namer(row_id) if namer else None) or row_id
