"""Measures what ten million calls and a million accounts cost, beside an empty database: `python -m bench.scale`.

Both databases have the settings of docs/scale.md. The full one is filled by `bench.report_rows`; with `--data` it is kept, and one
that `python -m bench.reports --data` has filled serves too. The other one has a thousand accounts and no calls. In turns: the same
calls at one wallet and over 64 and 1,000 wallets, spread over all accounts. Then each job of the schedule that touches the ledger,
and the main pages. Prints processor time, which other load on the machine affects least.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from contextlib import ExitStack, closing
from pathlib import Path

import psycopg

from bench import scale_calls
from bench.processes import ROOT, describe_machine
from bench.report_rows import fill
from bench.run import say
from bench.scale_parts import CATCH_UP, JOBS, PAGES, Part
from bench.scale_report import Measured, report
from bench.tuned import TunedDatabase

EMPTY, FULL = "empty", "full"
EMPTY_ACCOUNTS = 1_000
BUSY_SHARE = 0.03
"""The share of the calls that one organization made this month."""
WHOLE_CALLS = 1_000_000
"""From so many calls on, both databases have everything that does not depend on calls, such as telemetry and invoices; else a share."""
COUNTED = """
SELECT (SELECT count(*) FROM billing_reservation), (SELECT count(*) FROM accounts_account WHERE did ~ ':[0-9]+$')
"""


def main() -> None:
    """Fill what is not filled, measure, and print."""
    options = read_options()
    with tempfile.TemporaryDirectory(prefix="gateway-scale-") as name:
        directory = Path(name)
        directory.chmod(0o755)
        homes = {EMPTY: directory / "empty-database", FULL: options.data or directory / "full-database"}
        print(report(run(homes, directory, options)), flush=True)


def run(homes: Mapping[str, Path], directory: Path, options: argparse.Namespace) -> Measured:
    """Start a database in each of the directories, fill those that are not filled, and measure."""
    with ExitStack() as stack:
        databases = {which: stack.enter_context(closing(TunedDatabase(home))) for which, home in homes.items()}
        share = min(1.0, options.calls / WHOLE_CALLS)
        _fill(databases[EMPTY], calls=0, accounts=EMPTY_ACCOUNTS, share=share)
        _fill(databases[FULL], calls=options.calls, accounts=options.accounts, share=share)
        return _measure(databases, directory, options)


def read_options(arguments: list[str] | None = None) -> argparse.Namespace:
    """Return the options."""
    parser = argparse.ArgumentParser(prog="python -m bench.scale", description=__doc__)
    parser.add_argument("--calls", type=int, default=10_000_000, help="in a database that is not filled yet")
    parser.add_argument("--accounts", type=int, default=1_000_000, help="there, at least 1,000")
    parser.add_argument("--data", type=Path, help="keep the full database in this directory, and use it again")
    parser.add_argument("--rounds", type=int, default=3, help="of the calls")
    parser.add_argument("--seconds", type=float, default=5.0, help="of calls of one kind in a round")
    parser.add_argument("--concurrency", type=_numbers, default=(1, 16, 64), help="calls at once")
    parser.add_argument("--wallets", type=_numbers, default=(1, 64, 1_000), help="over how many the calls are spread")
    parser.add_argument("--page-rounds", type=int, default=20, help="how often each page is loaded; 0 leaves them out")
    parser.add_argument("--no-jobs", action="store_true", help="leave the jobs out, of which one reads all rows")
    options = parser.parse_args(arguments)
    if options.accounts < EMPTY_ACCOUNTS:
        parser.error(f"--accounts must be at least {EMPTY_ACCOUNTS}")
    return options


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in text.split(","))


def _fill(database: TunedDatabase, *, calls: int, accounts: int, share: float) -> None:
    """Make the tables of the database, and fill them, unless that was done. What runs on it later migrates it."""
    if not _answer(database.url, "SELECT to_regclass('accounts_account') IS NOT NULL"):
        command = [sys.executable, "manage.py", "migrate", "--verbosity", "0"]
        environment = {"DATABASE_URL": database.url, "DJANGO_SETTINGS_MODULE": "gateway.settings"}
        subprocess.run(command, cwd=ROOT, env={**os.environ, **environment}, check=True)
    if not _answer(database.url, "SELECT EXISTS (SELECT FROM accounts_account)"):
        say(f"filling in {calls:,} calls of {accounts:,} accounts")
        begun = time.monotonic()
        fill(database.url, calls=calls, accounts=accounts, busy=int(calls * BUSY_SHARE), share=share)
        say(f"filled in {time.monotonic() - begun:.0f} s")


def _answer(url: str, question: str) -> bool:
    """Return the answer of a query for yes or no."""
    with psycopg.connect(url) as connection:
        return connection.execute(question.encode()).fetchone() == (True,)


def _measure(databases: dict[str, TunedDatabase], directory: Path, options: argparse.Namespace) -> Measured:
    rows = {name: _count(database.url) for name, database in databases.items()}
    caught_up = {name: _parts(CATCH_UP, database) for name, database in databases.items()}
    results, growth = scale_calls.measure(
        databases,
        {name: accounts for name, (_, accounts) in rows.items()},
        directory,
        rounds=options.rounds,
        seconds=options.seconds,
        at_once=options.concurrency,
        wallets=options.wallets,
    )
    return Measured(
        machine=describe_machine(),
        wallets=options.wallets,
        rows=rows,
        results=results,
        growth=growth,
        caught_up=caught_up,
        jobs={name: [] if options.no_jobs else _parts(JOBS, database) for name, database in databases.items()},
        pages={
            name: _parts(PAGES, database, options.page_rounds) if options.page_rounds else []
            for name, database in databases.items()
        },
    )


def _count(url: str) -> tuple[int, int]:
    """Count the calls, and the accounts whose names are numbers."""
    with psycopg.connect(url) as connection:
        row = connection.execute(COUNTED).fetchone()
    assert row is not None
    return int(row[0]), int(row[1])


def _parts(which: str, database: TunedDatabase, rounds: int = 1) -> list[Part]:
    """Run a part on a database in another process."""
    say(f"{which} of {database.home.name}")
    command = [sys.executable, "-m", "bench.scale_parts", which, "--data", str(database.home), "--url", database.url]
    ran = subprocess.run([*command, "--rounds", str(rounds)], cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True)
    return [Part(**each) for each in json.loads(ran.stdout.splitlines()[-1])]


if __name__ == "__main__":
    main()
