"""A ledger with something of everything, and a way to forge it."""

from collections.abc import Callable

import pytest
from django.db import connection

from billing.queries import audit
from tests.factories import ledger as ledgers
from tests.support.unguarded import unguarded

Forge = Callable[..., None]


@pytest.fixture
def ledger(db: None) -> dict[str, str]:
    """Make a sealed ledger that is sound; give its rows by what they are."""
    rows = ledgers.furnish()
    assert audit.findings() == []
    return rows


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
