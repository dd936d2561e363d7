"""Measures the move of old months of the ledger while calls continue: `python -m bench.months`.

A separate database gets closed calls of a past year. `manage.py move_ledger_month` then moves them, month by month,
into tables of their own. Before, during and after that, threads hold and settle calls continuously. The output shows
how long their calls took, the database's processor time per call, and how many rows moved per second
(docs/decisions/0051).
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from contextlib import closing
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

WALLETS, THREADS, MONTHS = 64, 4, 12
YEAR = [f"2025-{month:02}" for month in range(1, MONTHS + 1)]

FILL = """
WITH made AS (
  SELECT n, billing_first_id(at::date) || lpad(n::text, 16, '0') AS id, 'wal_' || n %% {wallets} AS wallet_id, at
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
    FROM made m
), used AS (
  INSERT INTO billing_usage_record (reservation_id, input_tokens, output_tokens, charge_microusd, basis, settled_at)
  SELECT m.id, 60, 16, 19, 'upstream', m.at + interval '1 second' FROM made m)
INSERT INTO billing_transfer (kind, source, seq, debit_account, credit_account, amount_microusd, wallet_id, created_at)
SELECT 'charge', m.id, 0, 'wallet:' || m.wallet_id, 'platform:revenue', 19, m.wallet_id, m.at + interval '1 second'
  FROM made m
"""
# What the jobs would have recorded for them.
FINAL = """
INSERT INTO billing_seal (id, begins_at, ends_at, contents, chain) VALUES (1, '2000-01-01', now(), '{}', '');
INSERT INTO billing_usage_horizon (id, ends_at, calls) VALUES (1, now(), 0)
"""
OWNERS = """
INSERT INTO billing_wallet (id, owner_kind, owner_key, balance_microusd, held_microusd, debt_microusd, created_at)
SELECT 'wal_' || n, 'account', 'owner-' || n, 1000000000000, 0, 0, now() FROM generate_series(0, {wallets} - 1) n
"""
ACCOUNTS = """
INSERT INTO accounts_account (did, password, display_name, is_active, is_staff, is_superuser, created_at)
SELECT 'owner-' || n, '', '', true, false, false, now() FROM generate_series(0, {wallets} - 1) n
"""
PRICE = """INSERT INTO billing_price_version (id, alias, components) VALUES (1, 'fast', '{"request": "19"}')"""
WHERE = "SELECT count(*) FROM ONLY billing_reservation WHERE created_at < '2026-01-01'"


def main() -> None:
    """Run the measurements and print them."""
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
        trial.calls("while twelve months get tables", trial.add_tables)
        trial.calls("while they move", trial.move)
        trial.calls("afterwards")
        print(trial.report())


class Trial:
    """One database, and its measurements."""

    def __init__(self, directory: Path, seconds: float) -> None:
        self._cluster = Cluster(directory)
        self._url = self._cluster.start()
        self._seconds = seconds
        self._phases: list[list[str]] = []
        self._rows_a_second = 0.0
        self._add_seconds = 0.0
        self._cpu_seconds = 0.0
        self._manage("migrate", "--verbosity", "0")

    def close(self) -> None:
        self._cluster.stop()

    def fill(self, calls: int) -> None:
        """Insert a year of settled calls into the ledger."""
        say(f"filling in {calls:,} calls")
        with self._connect() as connection:
            connection.execute(PRICE.encode())
            connection.execute(ACCOUNTS.format(wallets=WALLETS).encode())
            connection.execute(OWNERS.format(wallets=WALLETS).encode())
            connection.execute(FILL.format(wallets=WALLETS).encode(), {"calls": calls})
            connection.execute(FINAL.encode())
            connection.execute("VACUUM ANALYZE")

    def calls(self, phase: str, beside: Any = None) -> None:
        """Hold and settle calls for a while, and run `beside` at the same time."""
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

    def add_tables(self) -> None:
        """Create the tables of each month."""
        with self._connect() as connection:
            for month in YEAR:
                begun = time.perf_counter()
                connection.execute("SELECT billing_add_month(%s)", [f"{month}-01"])
                self._add_seconds = max(self._add_seconds, time.perf_counter() - begun)

    def move(self) -> None:
        """Move every month, with the command."""
        begun = time.perf_counter()
        output = self._manage("move_ledger_month", *YEAR)
        rows = sum(int(count.replace(",", "")) for count in re.findall(r"\(([\d,]+) rows\)", output))
        self._rows_a_second = rows / (time.perf_counter() - begun)
        with self._connect() as connection:
            assert connection.execute(WHERE).fetchone() == (0,), output

    def report(self) -> str:
        """Return the figures."""
        calls = table(["Calls", "Number", "p50 ms", "p99 ms", "Longest ms", "Database CPU ms"], self._phases)
        return (
            f"{calls}\n\nRows moved in a second: {self._rows_a_second:,.0f}\n"
            f"Longest transaction that makes a month's tables: {1000 * self._add_seconds:.0f} ms"
        )

    def _manage(self, *arguments: str) -> str:
        environment = {**os.environ, "DATABASE_URL": self._url, "DJANGO_SETTINGS_MODULE": "gateway.settings"}
        command = [sys.executable, "manage.py", *arguments]
        return subprocess.run(command, cwd=ROOT, env=environment, check=True, stdout=subprocess.PIPE, text=True).stdout

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


def _hold_and_settle(connection: psycopg.Connection[Any], owner: str) -> None:
    usage_id = new_id("use")
    call: dict[str, Any] = {"usage_id": usage_id, "owner_kind": "account", "owner_key": owner, "did": owner}
    call |= {"route": "chat.completions", "model": "fast", "key": usage_id, "digest": "00", "deadline_seconds": 60}
    call |= {"hold": 100, "max_cost": 100, "price_version": 1, "is_admitted": True}
    held = connection.execute("SELECT answer->>'outcome' FROM inference_open_calls(%s, NULL, true)", [Json([call])])
    assert held.fetchone() == ("reserved",)
    settled = connection.execute("SELECT outcome FROM billing_settle(%s, 19, 'upstream', '{}')", [usage_id])
    assert settled.fetchone() == ("settled",)


def _milliseconds(seconds: Sequence[float]) -> list[str]:
    ordered = sorted(seconds)
    return [f"{1000 * each:.1f}" for each in (percentile(ordered, 50), percentile(ordered, 99), ordered[-1])]


if __name__ == "__main__":
    main()
