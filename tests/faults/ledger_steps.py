"""A process that runs one call's statements against the ledger, and kills itself at a given point.

Run as a program: address, owner, and for each call a usage id and a point. A point is `after:<step>`, when the step's
answer has arrived, or `during:<step>`, when the step was sent. Each call dies in its own process, by SIGKILL.
"""

import os
import signal
import sys
from collections.abc import Iterator
from typing import Any

import psycopg
from psycopg import ClientCursor

from billing.operations import closings
from billing.operations.closings import OpenCall
from billing.operations.ledger import Replay
from billing.operations.statement import Statement
from billing.rules.owners import Owner
from tests.factories.batches import check_in, opening, statement

HOLD, COST, NOTED = 100, 40, 25
DEADLINE_SECONDS = 30
SESSION = "ledger-steps"
"""The name of these processes' sessions."""

STEPS = ("connect", "open", "check_in", "settle")
POINTS = [f"after:{step}" for step in STEPS] + [f"during:{step}" for step in STEPS[1:]]


def used_for(cost: int) -> dict[str, int]:
    """Return quantities that cost `cost` at 0.15 micro-USD per input token."""
    return {"input_tokens": cost * 20 // 3}


def statements(owner: str, usage_id: str, price_version: int) -> Iterator[tuple[str, Statement[Any]]]:
    """Return a call's statements in the order in which a metered stream runs them."""
    payer: Owner = ("account", owner)
    evidence = {**used_for(NOTED), "charge_microusd": NOTED}
    hold: dict[str, Any] = {
        "usage_id": usage_id,
        "key": usage_id,
        "price_version": price_version,
        "deadline_seconds": DEADLINE_SECONDS,
    }
    yield "open", statement(opening(owner=payer, did=owner, hold=HOLD, **hold))
    yield "check_in", statement(check_in(owner=payer, did=owner, usage_id=usage_id, evidence=evidence))
    settlement = closings.settle(
        OpenCall(payer, usage_id, None),
        cost_microusd=COST,
        basis="upstream",
        quantities=used_for(COST),
        replay=Replay(200, [], b"answer"),
    )
    yield "settle", statement(settlement.element)


def run(conninfo: str, owner: str, usage_id: str, price_version: int, point: str) -> None:
    """Run a call up to its point, and die."""
    when, _, where = point.partition(":")
    with psycopg.connect(
        conninfo, autocommit=True, cursor_factory=ClientCursor, application_name=SESSION
    ) as connection:
        _die_if(point == "after:connect")
        for step, statement in statements(owner, usage_id, price_version):
            if (when, step) == ("during", where):
                query = ClientCursor(connection).mogrify(statement.sql, statement.parameters)
                connection.pgconn.send_query(query.encode())
                connection.pgconn.flush()
                _die_if(True)
            connection.execute(statement.sql, statement.parameters)
            _die_if((when, step) == ("after", where))


def _die_if(is_time: bool) -> None:
    if is_time:
        os.kill(os.getpid(), signal.SIGKILL)


def main(conninfo: str, owner: str, price_version: str, *calls: str) -> None:
    """Fork a process for each usage id and point; each must have died by SIGKILL."""
    for usage_id, point in zip(calls[::2], calls[1::2], strict=True):
        child = os.fork()
        if child == 0:
            run(conninfo, owner, usage_id, int(price_version), point)
            os._exit(0)
        _, status = os.waitpid(child, 0)
        assert os.WIFSIGNALED(status), f"{point} was not reached"
        assert os.WTERMSIG(status) == signal.SIGKILL


if __name__ == "__main__":
    main(*sys.argv[1:])
