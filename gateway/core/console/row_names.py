"""Names of rows that a table refers to by id and whose app it does not know. That app registers how they are named."""

from collections.abc import Callable, Collection, Mapping

Namer = Callable[[Collection[str]], Mapping[str, str]]
"""Returns the names of rows by id; rows that are gone are missing."""

_namers: dict[str, Namer] = {}


def register(kind: str, namer: Namer) -> None:
    """Register how rows of a kind ("deployment") are named."""
    _namers[kind] = namer


def row_names(kind: str, row_ids: Collection[str]) -> dict[str, str]:
    """Return the names of rows by id, read at once; the id of a row that is gone."""
    namer = _namers.get(kind)
    names = namer(row_ids) if namer else {}
    return {row_id: names.get(row_id, row_id) for row_id in row_ids}


def row_name(kind: str, row_id: str) -> str:
    """Return a row's name, or its id if it is gone."""
    return row_names(kind, [row_id])[row_id]
