"""A process that settles calls, each of which crosses thresholds of its owner, and may kill itself on the way.

Run as a program: address, a point, and the usage ids with their costs, one after the other. A point is `never`, or a number of
calls and where it dies of SIGKILL at the next one: `3:sent` when the statement was sent, `3:begun` before its transaction ends.
"""

import os
import signal
import sys
from collections.abc import Sequence
from typing import Any

import psycopg
from psycopg import ClientCursor
from psycopg.types.json import Json

SESSION = "crossing"
CLOSE = "SELECT answer->>'outcome' FROM billing_close_calls(%s::json, NULL, true)"


def settlement(usage_id: str, cost: int) -> dict[str, Any]:
    """Return the closing that charges a call at 0.15 micro-USD per input token."""
    quantities = {"input_tokens": cost * 20 // 3}
    return {"action": "settle", "usage_id": usage_id, "cost": cost, "basis": "upstream", "quantities": quantities}


def run(connection: psycopg.Connection[Any], calls: Sequence[str], point: str) -> None:
    """Settle the calls up to the point, and die there."""
    number, _, where = point.partition(":")
    for index, (usage_id, cost) in enumerate(zip(calls[::2], calls[1::2], strict=True)):
        closing = [Json([settlement(usage_id, int(cost))])]
        if where and index == int(number):
            _die_in(connection, closing, where)
        connection.execute(CLOSE, closing)


def _die_in(connection: psycopg.Connection[Any], closing: list[Json], where: str) -> None:
    if where == "begun":
        connection.execute("BEGIN")
        connection.execute(CLOSE, closing)
    else:
        connection.pgconn.send_query(ClientCursor(connection).mogrify(CLOSE, closing).encode())
        connection.pgconn.flush()
    os.kill(os.getpid(), signal.SIGKILL)


def main(conninfo: str, point: str, *calls: str) -> None:
    """Settle over a connection of its own."""
    with psycopg.connect(
        conninfo, autocommit=True, cursor_factory=ClientCursor, application_name=SESSION
    ) as connection:
        run(connection, calls, point)


if __name__ == "__main__":
    main(*sys.argv[1:])
