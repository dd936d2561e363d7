"""List responses: newest first, filtered by `created`, paged by `limit`, `starting_after` and `ending_before`."""

from collections.abc import Sequence
from typing import Any

from tests.support.stripe.errors import Refusal, no_such
from tests.support.stripe.forms import integer
from tests.support.stripe.store import Json

LIMIT_DEFAULT, LIMIT_MAX = 10, 100
PAGING = {"limit", "starting_after", "ending_before", "created", "expand"}
BOUNDS = {
    "gt": lambda created, bound: created > bound,
    "gte": lambda created, bound: created >= bound,
    "lt": lambda created, bound: created < bound,
    "lte": lambda created, bound: created <= bound,
}


def page(rows: Sequence[Json], params: Json, *, url: str, filters: Sequence[str] = ()) -> Json:
    """Return one page of `rows`, which are newest first; `filters` are members that can be filtered by."""
    if unknown := sorted(set(params) - PAGING - set(filters)):
        raise Refusal(400, f"Received unknown parameter: {unknown[0]}", code="parameter_unknown", param=unknown[0])
    chosen = [row for row in rows if _matches(row, params, filters)]
    start, stop = _window(chosen, params)
    limit = _limit(params)
    if "ending_before" in params:
        start = max(start, stop - limit)
    data = chosen[start : min(stop, start + limit)]
    left = start if "ending_before" in params else len(chosen) - start - len(data)
    return {"object": "list", "url": url, "has_more": left > 0, "data": data}


def whole(rows: Sequence[Json], *, url: str) -> Json:
    """Render a list that is part of an object."""
    return {"object": "list", "url": url, "has_more": False, "data": list(rows)}


def _limit(params: Json) -> int:
    limit = integer(params, "limit", LIMIT_DEFAULT)
    assert limit is not None
    if not 1 <= limit <= LIMIT_MAX:
        raise Refusal(400, "This value must be between 1 and 100.", code="parameter_invalid_integer", param="limit")
    return limit


def _matches(row: Json, params: Json, filters: Sequence[str]) -> bool:
    same = all(row.get(name) == params[name] for name in filters if name in params)
    created = params.get("created", {})
    if not isinstance(created, dict):
        return same and row["created"] == _number(created)
    if unknown := set(created) - set(BOUNDS):
        raise Refusal(400, f"Received unknown parameter: created[{unknown.pop()}]", code="parameter_unknown")
    return same and all(BOUNDS[name](row["created"], _number(bound)) for name, bound in created.items())


def _number(text: Any) -> int:
    try:
        return int(text)
    except ValueError:
        raise Refusal(400, f"Invalid timestamp: {text}", param="created") from None


def _window(rows: list[Json], params: Json) -> tuple[int, int]:
    start, stop = 0, len(rows)
    if "starting_after" in params:
        start = _place(rows, params["starting_after"], "starting_after") + 1
    if "ending_before" in params:
        stop = _place(rows, params["ending_before"], "ending_before")
    return start, stop


def _place(rows: list[Json], object_id: str, param: str) -> int:
    for index, row in enumerate(rows):
        if row["id"] == object_id:
            return index
    raise no_such(rows[0]["object"] if rows else "object", object_id, param)
