"""Asks all invariants of the audit by one prepared statement: on the few rows of a test, the plans and round trips of a statement for
each take most of an audit's time."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any
from weakref import WeakKeyDictionary

import psycopg
import pytest
from django.db import connection

from billing.queries import audit
from billing.queries.audit import SLICE_CALLS, Finding, Slice
from billing.queries.snapshots import one_snapshot

Parameters = dict[str, Any]
Found = dict[str, list[Finding]]

_prepared: WeakKeyDictionary[psycopg.Connection[Any], dict[Any, str]] = WeakKeyDictionary()


@pytest.fixture(scope="session", autouse=True)
def prepared_audit() -> Iterator[None]:
    """Check every invariant when the first one is asked. PostgreSQL itself makes a new plan after any change of the schema.

    An audit of what closed lately, and one with slices of another size, ask one after the other as in production.
    """
    ask = audit._check
    last: tuple[Parameters, Found] = {}, {}

    def check(
        invariant: str, slices: Callable[[], Iterable[Slice]], parameters: Parameters
    ) -> Iterator[Finding] | list[Finding]:
        nonlocal last
        if parameters["since"] != "-infinity" or audit.SLICE_CALLS != SLICE_CALLS:
            return ask(invariant, slices, parameters)
        if last[0] is not parameters:  # another audit's
            last = parameters, _check_all(parameters)
        return last[1].get(invariant, [])

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(audit, "_check", check)
        yield


def _check_all(parameters: Parameters) -> Found:
    found: Found = {}
    with one_snapshot(), connection.cursor() as cursor:
        cursor.execute(audit._ROOM)
        statements = _prepared.setdefault(connection.connection, {})
        key = parameters["review_hours"]
        if key not in statements:
            name = f"audit_{len(statements)}"
            cursor.execute(f"PREPARE {name} AS {_query()}", {**parameters, "first": "", "last": None})
            statements[key] = name
        cursor.execute(f"EXECUTE {statements[key]}")
        for row in cursor.fetchall():
            found.setdefault(row[0], []).append(Finding(*row))
    return found


def _query() -> str:
    """Return all invariants' queries as one, whose rows begin with the invariant's name."""
    queries = audit.invariants().items()
    return "\nUNION ALL\n".join(
        f"SELECT '{name}', subject::text, detail::text FROM (\n{query}\n) AS found (subject, detail)"
        for name, query in queries
    )
