"""Measures what indexes and fillfactor of `billing_reservation` cost a call: `python -m bench.hot_updates`.

A call's row is inserted by its hold and updated once, when it closes. PostgreSQL can leave all indexes alone (a heap-only
update) if no index, nor the condition of a partial one, names a column that changes. Here `closed_at` changes. Each variant gets a
copy of one database that has calls already. The variants take turns, each with batches of holds and settlements over 64 wallets, and
the order turns round after each round. Prints the processor time of the session that makes the calls, the write-ahead log, the share of heap-only updates and the growth of
the table and its indexes, after a vacuum.
"""

import argparse
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psycopg
from psycopg import sql

from bench.figures import median
from bench.ledger_calls import cluster, fill, hold_and_settle
from bench.months import WALLETS
from bench.run import say
from bench.tables import table
from gateway.run.postgres import DATABASE

TABLE = "billing_reservation"
WARM_UP_BATCHES = 10
DROP = """
DO $$
DECLARE v_name text;
BEGIN
  FOR v_name IN SELECT indexname FROM pg_indexes
                 WHERE tablename = 'billing_reservation' AND indexdef LIKE '{like}'
  LOOP EXECUTE format('DROP INDEX %I', v_name); END LOOP;
END $$
"""
OPEN_CALLS = """
CREATE TABLE open_call (id text COLLATE "C" PRIMARY KEY, created_at timestamptz NOT NULL)
  WITH (autovacuum_vacuum_scale_factor = 0.0, autovacuum_vacuum_threshold = 5000, autovacuum_vacuum_cost_delay = 0);
CREATE FUNCTION note_open_call() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN INSERT INTO open_call VALUES (NEW.id, NEW.created_at); RETURN NULL; END $$;
CREATE FUNCTION forget_open_call() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN DELETE FROM open_call WHERE id = NEW.id; RETURN NULL; END $$;
CREATE TRIGGER noted AFTER INSERT ON billing_reservation FOR EACH ROW EXECUTE FUNCTION note_open_call();
CREATE TRIGGER forgotten AFTER UPDATE ON billing_reservation FOR EACH ROW
  WHEN (OLD.closed_at IS NULL AND NEW.closed_at IS NOT NULL) EXECUTE FUNCTION forget_open_call()
"""
"""A table that would take the place of the partial indexes of open calls."""
FILLFACTOR = "ALTER TABLE billing_reservation SET (fillfactor = {})"
VARIANTS = {
    "as it is (fillfactor 60)": "SELECT 1",
    "without the BRIN of closed_at": DROP.format(like="%USING brin (closed_at)%"),
    "without any index that names closed_at": DROP.format(like="%closed_at%"),
    "the same, with a table of open calls": f"{DROP.format(like='%closed_at%')}; {OPEN_CALLS}",
    **{f"fillfactor {percent}": FILLFACTOR.format(percent) for percent in (40, 80, 100)},
}
COUNTS = "SELECT n_tup_upd, n_tup_hot_upd FROM pg_stat_user_tables WHERE relname = 'billing_reservation'"
SIZES = "SELECT pg_table_size(%s::regclass), pg_indexes_size(%s::regclass)"


@dataclass(slots=True)
class Variant:
    """One variant's database and what was measured: microseconds and bytes per call, one value for each turn."""

    name: str
    url: str
    holds: list[float] = field(default_factory=list)
    settlements: list[float] = field(default_factory=list)
    logged: list[float] = field(default_factory=list)
    calls: int = 0
    sizes: tuple[int, int] = (0, 0)

    @property
    def microseconds(self) -> float:
        """Return the median of the turns' processor time per call."""
        return median(map(sum, zip(self.holds, self.settlements, strict=True)))


def main() -> None:
    """Run the measurements and print them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--calls", type=int, default=200_000, help="that are there before")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--batches", type=int, default=150, help="of each variant in a round")
    parser.add_argument("--batch", type=int, default=8, help="calls of a batch, each at a wallet of its own")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="gateway-bench-") as name, cluster(Path(name)) as url:
        fill(url, options.calls)
        variants = list(_copies(url))
        for number in range(options.rounds):
            say(f"round {number + 1}/{options.rounds}")
            for variant in variants if number % 2 else variants[::-1]:
                _measure(variant, options.batches, options.batch)
        print(report(variants))


def report(variants: list[Variant]) -> str:
    """Return the table. The first variant is the one that the others are compared with."""
    base = variants[0].microseconds
    rows = [
        [
            each.name,
            f"{median(each.holds):.1f}",
            f"{median(each.settlements):.1f}",
            f"{100 * (each.microseconds / base - 1):+.1f} %",
            f"{median(each.logged):,.0f}",
            *_grown(each),
        ]
        for each in variants
    ]
    head = ["Variant", "Hold µs", "Settle µs", "Both, against the first", "WAL bytes"]
    return table([*head, "Heap-only updates", "Table bytes", "Index bytes"], rows)


def _copies(url: str) -> Iterator[Variant]:
    """Yield a copy of the database for each variant."""
    for number, (name, change) in enumerate(VARIANTS.items()):
        database = f"variant_{number}"
        with psycopg.connect(url, dbname="postgres", autocommit=True) as connection:
            copy = sql.SQL("CREATE DATABASE {} TEMPLATE {}")
            connection.execute(copy.format(sql.Identifier(database), sql.Identifier(DATABASE)))
        variant = Variant(name, url.rpartition("/")[0] + f"/{database}")
        with psycopg.connect(variant.url, autocommit=True) as connection:
            connection.execute(change.encode())
            variant.sizes = _sizes(connection)
        yield variant


def _measure(variant: Variant, batches: int, size: int) -> None:
    """Make calls over one connection, whose statistics are there once it has ended."""
    with psycopg.connect(variant.url, autocommit=True) as connection:
        for number in range(WARM_UP_BATCHES):
            hold_and_settle(connection, _owners(number, size))
        begun, spent = _log_position(connection), [0.0, 0.0]
        for number in range(batches):
            taken = hold_and_settle(connection, _owners(number, size))
            spent = [before + more for before, more in zip(spent, taken, strict=True)]
        calls = batches * size
        variant.logged.append((_log_position(connection) - begun) / calls)
        variant.holds.append(1e6 * spent[0] / calls)
        variant.settlements.append(1e6 * spent[1] / calls)
        variant.calls += calls + WARM_UP_BATCHES * size


def _owners(number: int, size: int) -> list[str]:
    return [f"owner-{(number * size + place) % WALLETS}" for place in range(size)]


def _log_position(connection: psycopg.Connection[Any]) -> int:
    row = connection.execute("SELECT pg_current_wal_insert_lsn() - '0/0'::pg_lsn").fetchone()
    assert row is not None
    return int(row[0])


def _sizes(connection: psycopg.Connection[Any]) -> tuple[int, int]:
    row = connection.execute(SIZES, [TABLE, TABLE]).fetchone()
    assert row is not None
    return int(row[0]), int(row[1])


def _grown(variant: Variant) -> list[str]:
    """Return the share of heap-only updates, and the bytes per call by which table and indexes have grown."""
    with psycopg.connect(variant.url, autocommit=True) as connection:
        connection.execute(f"VACUUM {TABLE}".encode())
        sizes = _sizes(connection)
        updates, heap_only = _settled_counts(connection, variant.calls)
    table_bytes, index_bytes = (
        f"{(after - before) / variant.calls:,.0f}" for before, after in zip(variant.sizes, sizes, strict=True)
    )
    return [f"{100 * heap_only / max(1, updates):.0f} %", table_bytes, index_bytes]


def _settled_counts(connection: psycopg.Connection[Any], calls: int) -> tuple[int, int]:
    """Wait until the sessions that have ended have reported their updates."""
    for _ in range(100):
        row = connection.execute(COUNTS).fetchone()
        if row is not None and row[0] >= calls:
            return int(row[0]), int(row[1])
        time.sleep(0.1)
    raise RuntimeError(f"the statistics lack updates: {row}")


if __name__ == "__main__":
    main()
