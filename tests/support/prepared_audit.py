"""Keeps the plans of the audit's queries: on the few rows of a test, making them takes most of an audit's time."""

from collections.abc import Iterator
from typing import Any
from weakref import WeakKeyDictionary

import psycopg
import pytest
from django.db import connection
from django.db.backends.utils import CursorWrapper

from billing.queries import audit
from billing.queries.audit import Finding

_prepared: WeakKeyDictionary[psycopg.Connection[Any], dict[tuple[str, Any], str]] = WeakKeyDictionary()


@pytest.fixture(scope="session", autouse=True)
def prepared_audit() -> Iterator[None]:
    """Prepare the query of an invariant where it is first asked. PostgreSQL itself makes a new plan after any change of the
    schema."""
    query = audit._query

    def prepared(cursor: CursorWrapper, invariant: str, parameters: dict[str, Any]) -> list[Finding]:
        if (parameters["since"], parameters["first"], parameters["last"]) != ("-infinity", "", None):
            return query(cursor, invariant, parameters)
        cursor.execute(f"EXECUTE {_statement(cursor, invariant, parameters)}")
        return [Finding(invariant, *row) for row in cursor.fetchmany(audit.FINDINGS_MAX)]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(audit, "_query", prepared)
        yield


def _statement(cursor: CursorWrapper, invariant: str, parameters: dict[str, Any]) -> str:
    """Return the name of a prepared statement of this connection."""
    statements = _prepared.setdefault(connection.connection, {})
    key = invariant, parameters["review_hours"]
    if key not in statements:
        name = f"audit_{len(statements)}"
        cursor.execute(f"PREPARE {name} AS {audit.invariants()[invariant]}", parameters)
        statements[key] = name
    return statements[key]
