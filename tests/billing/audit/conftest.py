"""A ledger with something of everything, and a way to forge it."""

from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection

from billing.queries import audit
from tests.factories import ledger as ledgers
from tests.support.unguarded import unguarded

Forge = Callable[..., None]


def valid_ledger() -> dict[str, str]:
    """Make a sealed ledger that is sound; return its rows by what they are."""
    rows = ledgers.furnish()
    assert audit.findings() == []
    return rows


@pytest.fixture(scope="module")
def _valid_ledger(django_db_setup: None, django_db_blocker: Any) -> dict[str, str]:
    """Commit a ledger once for all tests of a module, at whose end its rows are deleted."""
    with django_db_blocker.unblock():
        return valid_ledger()


@pytest.fixture
def ledger(_valid_ledger: dict[str, str], db: None) -> dict[str, str]:
    """Return the rows of a sealed ledger that is sound, by what they are."""
    return _valid_ledger


@pytest.fixture
def forge(ledger: dict[str, str]) -> Forge:
    """Change rows behind the ledger's back, all guards passed by; `:name` is a row of the ledger."""

    def change(*statements: str) -> None:
        with unguarded(), connection.cursor() as cursor:
            for statement in statements:
                for name in sorted(ledger, key=len, reverse=True):
                    statement = statement.replace(f":{name}", f"'{ledger[name]}'")
                cursor.execute(statement)
                assert cursor.rowcount != 0, statement

    return change
