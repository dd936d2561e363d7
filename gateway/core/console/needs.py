"""What needs a person: each app registers how it is found, for the console's home page and the badges of the navigation.

All needs that an operator may see are read in one statement, once for each page. A need is a query of at most a few rows
`(number, since, subject, detail, row_id)`: how many there are in all, since when the oldest, and for a row of its own its
name, what is to be said of it, and its key.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from urllib.parse import quote

from django.db import connection
from django.http import HttpRequest
from django.urls import reverse
from django.utils import timezone

from gateway.core.console.moments import elapsed


@dataclass(frozen=True, slots=True)
class Found:
    """A row of a need."""

    number: int
    since: datetime | None = None
    subject: str = ""
    detail: str = ""
    row_id: str = ""


@dataclass(frozen=True, slots=True)
class Need:
    """Something that waits for a person who has the right `right` ("billing.view_call").

    `one` and `many` name it after its number, or stand for themselves if they have no number. `page` is where it is solved: the
    name of a list, with the `query` that filters it; a row has a page `row_page`, or a list with `row_query` and its key. `sql` may use `%(now)s` and `parameters`,
    whose names start with the need's own. `find` is for what is not in the database alone.
    """

    key: str
    right: str
    one: str
    many: str
    page: str
    query: str = ""
    row_page: str = ""
    row_query: str = ""
    sql: str = ""
    parameters: Callable[[datetime], dict[str, Any]] = lambda now: {}
    find: Callable[[datetime], list[Found]] | None = None
    badge: str = ""
    """The key of the need whose badge counts it as well."""
    is_urgent: bool = False
    is_setup: bool = False
    """It is not a problem, but a step that a new gateway still lacks."""


@dataclass(frozen=True, slots=True)
class Line:
    """A line of the home page."""

    need: Need
    found: Found
    elapsed: str
    """How long it has waited, in words; empty if that is not known."""

    @property
    def text(self) -> str:
        """Return what waits, with its number."""
        if self.found.subject:
            return f"{self.need.one}: {self.found.subject}" if self.need.one else self.found.subject
        number = self.found.number
        return f"{number:,} {self.need.one if number == 1 else self.need.many}"

    @property
    def link(self) -> str:
        """Return the address of the page where it is solved."""
        if self.need.row_page and self.found.row_id:
            return reverse(f"admin:{self.need.row_page}", args=[self.found.row_id])
        filtered = self.need.row_query + quote(self.found.row_id) if self.found.row_id else self.need.query
        return reverse(f"admin:{self.need.page}") + filtered


_needs: dict[str, Need] = {}


def register(*needs: Need) -> None:
    """Register needs. The lines of the home page are in this order, the urgent ones first."""
    _needs.update({need.key: need for need in needs})


def lines(request: HttpRequest) -> list[Line]:
    """Return what waits for this operator, and the steps that a new gateway lacks; read once for each request."""
    if not hasattr(request, "console_needs"):
        mine = [need for need in _needs.values() if request.user.has_perm(need.right)]
        request.console_needs = _read(mine, timezone.now())  # type: ignore[attr-defined]
    found: list[Line] = request.console_needs  # type: ignore[attr-defined]
    return found


def number(request: HttpRequest, key: str) -> int | None:
    """Return how many there are of a need and of those that share its badge, None if the operator sees none."""
    found = {line.need.key: line.found.number for line in lines(request) if key in (line.need.key, line.need.badge)}
    return sum(found.values()) or None


def _read(needs: Iterable[Need], now: datetime) -> list[Line]:
    by_key = {need.key: need for need in needs}
    rows = [*_read_rows([need for need in by_key.values() if need.sql], now), *_find(by_key.values(), now)]
    places = {key: (not need.is_urgent, place) for place, (key, need) in enumerate(_needs.items())}
    found_rows = sorted(rows, key=lambda row: places[row[0]])
    return [Line(by_key[key], found, elapsed(found.since, now) if found.since else "") for key, found in found_rows]


def _read_rows(needs: list[Need], now: datetime) -> list[tuple[str, Found]]:
    if not needs:
        return []
    # In brackets, so that each may have its own order and limit.
    part = "(SELECT '{key}', n.* FROM ({sql}) n (number, since, subject, detail, row_id))"
    parts = [part.format(key=need.key, sql=need.sql) for need in needs]
    given: dict[str, Any] = {"now": now}
    for need in needs:
        given |= need.parameters(now)
    with connection.cursor() as cursor:
        cursor.execute(" UNION ALL ".join(parts), given)
        return [(key, Found(*found)) for key, *found in cursor.fetchall() if found[0]]


def _find(needs: Iterable[Need], now: datetime) -> Iterator[tuple[str, Found]]:
    for need in needs:
        if need.find is not None:
            yield from ((need.key, found) for found in need.find(now))
