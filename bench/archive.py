"""Tries moving old calls out of the ledger's hot tables while calls go on: `python -m bench.archive`.

A database of its own gets a million settled calls of a year that is over. Old months then move, in small transactions, into
a table for each month that inherits from the hot one, so that whoever reads the hot table reads them too. Before, while and after
that, threads hold and settle calls. Printed are their times, and the longest wait of each step. This is a trial of a design
(docs/decisions/0051): the guards are passed by, which only the superuser of this database may.
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import psutil
import psycopg
from psycopg.types.json import Json

from bench.figures import percentile
from bench.processes import ROOT
from bench.run import say
from bench.tables import table
from gateway.core.contract.ids import new_id
from gateway.run.postgres import Cluster

WALLETS, THREADS, MONTHS, BATCH = 64, 4, 12, 1000
TABLES = {"billing_reservation": "id", "billing_usage_record": "reservation_id"}

_NAMES_HOT_TABLE = re.compile(r"\b(FROM|UPDATE|JOIN) (billing_reservation|billing_usage_record)\b")

FILL = """
WITH made AS (
  SELECT n, 'use_0' || to_char(at, 'YYYYMMDDHH24MISSUS') || '_' || n AS id, 'wal_' || n %% {wallets} AS wallet_id, at
    FROM (SELECT n, '2025-01-01'::timestamptz + n * interval '1 year' / %(calls)s AS at
            FROM generate_series(0, %(calls)s - 1) n) s
), called AS (
  INSERT INTO billing_reservation (
    id, wallet_id, actor_did, route, model, deployment, request_id, idempotency_key, request_digest, replayable, state,
    max_cost_microusd, hold_microusd, cash_held_microusd, charge_microusd, overrun_microusd, price_version_id, created_at,
    dispatched_at, deadline_at, closed_at)
  SELECT m.id, m.wallet_id, 'did:web:studio.example:alice', 'chat.completions', 'fast', 'bench', 'req_' || m.n, m.id,
         sha256(m.id::bytea), false, 'settled', 100, 100, 100, 19, 0, 1, m.at, m.at, m.at + interval '1 minute',
         m.at + interval '1 second'
    FROM made m)
INSERT INTO billing_usage_record (reservation_id, input_tokens, output_tokens, charge_microusd, basis, settled_at)
SELECT m.id, 60, 16, 19, 'upstream', m.at + interval '1 second' FROM made m
"""
OWNERS = """
INSERT INTO billing_wallet (id, owner_kind, owner_key, balance_microusd, held_microusd, debt_microusd, created_at)
SELECT 'wal_' || n, 'account', 'owner-' || n, 1000000000000, 0, 0, now() FROM generate_series(0, {wallets} - 1) n
"""
PRICE = """INSERT INTO billing_price_version (id, alias, components) VALUES (1, 'fast', '{"request": "19"}')"""
CHILD = """
CREATE TABLE {child} (LIKE {hot} INCLUDING ALL, CHECK ({key} >= '{begin}' AND {key} < '{end}'))
"""
MOVE = """
WITH old AS (SELECT {key} FROM ONLY {hot} WHERE {key} >= %s AND {key} < %s ORDER BY {key} LIMIT %s FOR UPDATE SKIP LOCKED),
gone AS (DELETE FROM ONLY {hot} h USING old WHERE h.{key} = old.{key} RETURNING h.*)
INSERT INTO {child} SELECT * FROM gone
"""


def main() -> None:
    """Run the trial and print its figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--calls", type=int, default=1_000_000, help="that are there before")
    parser.add_argument("--seconds", type=float, default=15.0, help="of each phase")
    options = parser.parse_args()
    with (
        tempfile.TemporaryDirectory(prefix="gateway-bench-") as name,
        closing(Trial(Path(name), options.seconds)) as trial,
    ):
        trial.fill(options.calls)
        trial.calls("before")
        trial.calls("with a table for each month, still empty", trial.inherit)
        trial.calls("while they move", trial.move)
        trial.calls("afterwards")
        trial.read_hot_tables_alone()
        trial.calls("with functions that read the hot tables alone")
        print(trial.report())


class Trial:
    """One database, and what was seen in it."""

    def __init__(self, directory: Path, seconds: float) -> None:
        self._cluster = Cluster(directory)
        self._url = self._cluster.start()
        self._seconds = seconds
        self._phases: list[list[str]] = []
        self._waits: dict[str, float] = {}
        self._moved = 0
        self._cpu_seconds = 0.0
        environment = {**os.environ, "DATABASE_URL": self._url, "DJANGO_SETTINGS_MODULE": "gateway.settings"}
        migrate = [sys.executable, "manage.py", "migrate", "--verbosity", "0"]
        subprocess.run(migrate, cwd=ROOT, env=environment, check=True)

    def close(self) -> None:
        """Stop the database."""
        self._cluster.stop()

    def fill(self, calls: int) -> None:
        """Put a year of settled calls into the ledger."""
        say(f"filling in {calls:,} calls")
        with self._connect() as connection:
            connection.execute(PRICE.encode())
            connection.execute(OWNERS.format(wallets=WALLETS).encode())
            connection.execute(FILL.format(wallets=WALLETS).encode(), {"calls": calls})
            connection.execute("VACUUM ANALYZE")

    def calls(self, phase: str, beside: Any = None) -> None:
        """Hold and settle calls for a while, and do something beside."""
        say(phase)
        seconds: list[float] = []
        self._cpu_seconds = 0.0
        end = threading.Event()
        threads = [threading.Thread(target=self._call, args=(number, end, seconds)) for number in range(THREADS)]
        for thread in threads:
            thread.start()
        time.sleep(self._seconds / 3)
        if beside:
            beside()
        time.sleep(self._seconds * 2 / 3)
        end.set()
        for thread in threads:
            thread.join()
        cpu = f"{1000 * self._cpu_seconds / len(seconds):.2f}"
        self._phases.append([phase, f"{len(seconds):,}", *_milliseconds(seconds), cpu])

    def inherit(self) -> None:
        """Make a table for each month and have it inherit from the hot one."""
        with self._connect() as connection:
            for hot, key in TABLES.items():
                for month in range(MONTHS):
                    names = {"hot": hot, "child": _child(hot, month), "key": key}
                    begin, end = _bounds(month)
                    connection.execute(CHILD.format(**names, begin=begin, end=end).encode())
                    with self._timed("ALTER TABLE ... INHERIT"):
                        connection.execute(f"ALTER TABLE {names['child']} INHERIT {hot}".encode())

    def move(self) -> None:
        """Move old calls for as long as a phase takes."""
        until = time.monotonic() + self._seconds
        with self._connect() as connection:
            connection.execute("SET session_replication_role = replica")  # passes the guards by
            for month in range(MONTHS):
                while time.monotonic() < until:
                    moved = sum(self._move_some(connection, hot, key, month) for hot, key in TABLES.items())
                    self._moved += moved
                    if not moved:
                        break

    def read_hot_tables_alone(self) -> None:
        """Make the ledger's functions look for a call in the hot tables only, in no month's."""
        with self._connect() as connection:
            connection.execute("SET check_function_bodies = off")
            for path in sorted((ROOT / "billing" / "sql").glob("*.sql")):
                if path.name != "seals.sql":
                    connection.execute(_NAMES_HOT_TABLE.sub(r"\1 ONLY \2", path.read_text()).encode())

    def report(self) -> str:
        """Return the figures."""
        calls = table(["Calls", "Number", "p50 ms", "p99 ms", "Longest ms", "Database CPU ms"], self._phases)
        waits = table(["Step", "Longest ms"], [[step, f"{1000 * took:.1f}"] for step, took in self._waits.items()])
        return f"{calls}\n\n{waits}\n\nRows moved: {self._moved:,}"

    def _move_some(self, connection: psycopg.Connection[Any], hot: str, key: str, month: int) -> int:
        statement = MOVE.format(hot=hot, key=key, child=_child(hot, month))
        with self._timed(f"a batch of {BATCH} of {hot}"):
            return connection.execute(statement.encode(), [*_bounds(month), BATCH]).rowcount

    def _call(self, number: int, end: threading.Event, seconds: list[float]) -> None:
        with self._connect() as connection:
            turn, backend = number, psutil.Process(connection.info.backend_pid)
            before = sum(backend.cpu_times()[:2])
            while not end.is_set():
                turn += THREADS
                begun = time.perf_counter()
                _hold_and_settle(connection, f"owner-{turn % WALLETS}")
                seconds.append(time.perf_counter() - begun)
            self._cpu_seconds += sum(backend.cpu_times()[:2]) - before

    def _connect(self) -> psycopg.Connection[Any]:
        return psycopg.connect(self._url, autocommit=True)

    @contextmanager
    def _timed(self, step: str) -> Iterator[None]:
        begun = time.perf_counter()
        yield
        self._waits[step] = max(self._waits.get(step, 0.0), time.perf_counter() - begun)


def _hold_and_settle(connection: psycopg.Connection[Any], owner: str) -> None:
    usage_id = new_id("use")
    call: dict[str, Any] = {"usage_id": usage_id, "owner_kind": "account", "owner_key": owner, "did": owner}
    call |= {"route": "chat.completions", "model": "fast", "key": usage_id, "digest": "00", "deadline_seconds": 60}
    call |= {"hold": 100, "max_cost": 100, "price_version": 1}
    held = connection.execute("SELECT outcome FROM billing_hold(%s, NULL)", [Json(call)])
    assert held.fetchone() == ("reserved",)
    settled = connection.execute("SELECT outcome FROM billing_settle(%s, 19, 'upstream', '{}')", [usage_id])
    assert settled.fetchone() == ("settled",)


def _child(hot: str, month: int) -> str:
    return f"{hot}_2025_{month + 1:02}"


def _bounds(month: int) -> tuple[str, str]:
    """Return the first id of a month, and of the next."""
    months = [f"use_02025{number:02}" for number in range(1, MONTHS + 1)] + ["use_02026"]
    return months[month], months[month + 1]


def _milliseconds(seconds: Sequence[float]) -> list[str]:
    ordered = sorted(seconds)
    return [f"{1000 * each:.1f}" for each in (percentile(ordered, 50), percentile(ordered, 99), ordered[-1])]


if __name__ == "__main__":
    main()
