"""Names of rows that a table refers to by id and whose app it does not know. That app registers how they are named."""

from collections.abc import Callable, Collection, Mapping

Namer = Callable[[Collection[str]], Mapping[str, str]]
"""Returns the names of rows by id; rows that are gone are missing."""

Lister = Callable[[], Mapping[str, Collection[str]]]
"""Returns the ids of all rows by the name that they share."""

_namers: dict[str, Namer] = {}
_listers: dict[str, Lister] = {}


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


def register_ids(kind: str, lister: Lister) -> None:
    """Register how all rows of a kind ("upstream of deployment") are listed by their names."""
    _listers[kind] = lister


def ids_by_name(kind: str) -> Mapping[str, Collection[str]]:
    """Return the ids of the rows of a kind, by name; nothing if its app is not there."""
    lister = _listers.get(kind)
    return lister() if lister else {}
