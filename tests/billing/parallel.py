"""Runs ledger statements and elements of batches at once, each on a connection of its own, as several processes do."""

from collections.abc import Sequence
from contextlib import ExitStack
from functools import partial
from typing import Any

import psycopg

from billing.operations.statement import Statement
from gateway.core.database import Element
from tests.factories.batches import statement as batch
from tests.support.concurrency import at_once
from tests.support.database import connect

Work = Statement[Any] | Element[Any]


def statements_at_once(*works: Work) -> list[Any]:
    """Run all at the same moment and give the results in order."""
    return [results[0] for results in lanes_at_once(*([work] for work in works))]


def lanes_at_once(*lanes: Sequence[Work]) -> list[list[Any]]:
    """Run several lanes at the same moment, each lane's work one after the other on its own connection."""
    with ExitStack() as stack:
        connections = [stack.enter_context(connect(autocommit=True)) for _ in lanes]
        return at_once(*map(partial(partial, _run), connections, lanes))


def _run(connection: psycopg.Connection[Any], lane: Sequence[Work]) -> list[Any]:
    return [_run_one(connection, work) for work in lane]


def _run_one(connection: psycopg.Connection[Any], work: Work) -> Any:
    """Run one statement, or an element as a server process does: again, and waiting, where its wallet was busy."""
    if isinstance(work, Statement):
        return _execute(connection, work)
    result = _execute(connection, batch(work, wait=False))
    return result if result is not None else _execute(connection, batch(work, wait=True))


def _execute(connection: psycopg.Connection[Any], statement: Statement[Any]) -> Any:
    return statement.read(connection.execute(statement.sql, statement.parameters).fetchone())
