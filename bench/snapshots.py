"""Measures what a call costs at one wallet while a snapshot of the database lasts: `python -m bench.snapshots`.

A dump, an audit or a transaction that somebody forgot has a snapshot. While it lasts, PostgreSQL keeps all versions of every row, and a
call looks through those of its wallet's row. Prints the processor time of the session that makes the calls, one after the other: before a
snapshot is taken, while it lasts, and after its end. A server puts calls of one wallet that wait together into one statement: `--batch`.
"""

import argparse
import tempfile
from pathlib import Path
from typing import Any

import psycopg

from bench.ledger_calls import cluster, fill, hold_and_settle
from bench.run import say
from bench.tables import table

OWNER = "owner-1"
SNAPSHOT = "SELECT FROM billing_wallet LIMIT 1"


def main() -> None:
    """Run the measurement and print it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--calls", type=int, default=5_000, help="of one wallet between two figures")
    parser.add_argument("--figures", type=int, default=4, help="while the snapshot lasts")
    parser.add_argument("--batch", type=int, default=1, help="calls of the wallet in one statement")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="gateway-bench-") as name, cluster(Path(name)) as url:
        fill(url, options.calls)
        print(report(measure(url, options.calls, options.figures, options.batch)))


def measure(url: str, calls: int, figures: int, batch: int) -> list[tuple[str, float]]:
    """Return each part of the measurement, and the microseconds of processor time of one of its calls."""
    with psycopg.connect(url, autocommit=True) as connection, psycopg.connect(url) as reader:
        _microseconds(connection, calls, batch)
        measured = [("before the snapshot", _microseconds(connection, calls, batch))]
        reader.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
        reader.execute(SNAPSHOT)
        for number in range(figures):
            say(f"{(number + 1) * calls:,} calls since the snapshot was taken")
            measured.append(
                (
                    f"calls {number * calls + 1:,} to {(number + 1) * calls:,} of it",
                    _microseconds(connection, calls, batch),
                )
            )
        reader.rollback()
        connection.execute("VACUUM billing_wallet")
        return [*measured, ("after it, and a vacuum", _microseconds(connection, calls, batch))]


def report(measured: list[tuple[str, float]]) -> str:
    """Return the table. All parts are compared with the first."""
    first = measured[0][1]
    rows = [[part, f"{microseconds:,.0f}", f"{microseconds / first:.2f}"] for part, microseconds in measured]
    return table(["Part", "Database CPU µs a call", "Against the first"], rows)


def _microseconds(connection: psycopg.Connection[Any], calls: int, batch: int) -> float:
    batches = calls // batch
    return 1e6 * sum(sum(hold_and_settle(connection, [OWNER] * batch)) for _ in range(batches)) / (batches * batch)


if __name__ == "__main__":
    main()
