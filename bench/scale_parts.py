"""Runs the jobs or loads the pages on one database, in a process of its own, and prints what they took as JSON.

`bench.scale` starts it, because Django's settings name one database: `python -m bench.scale_parts jobs --data DIR --url URL`.
"""

import argparse
import json
import logging
import os
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass
from datetime import timedelta
from itertools import chain
from pathlib import Path

from bench.reports import Call, portal_reports, routes, set_up
from bench.tuned import Postmaster

CATCH_UP, JOBS, PAGES = "catch-up", "jobs", "pages"
OTHER_JOBS = ("accounts.tasks.purge_proofs", "inference.tasks.purge_responses")
REPEATED_SECONDS, REPEATS_MAX = 0.5, 20
"""How long and how often a job is run again that finds nothing to do."""

EXPIRE = (
    "SET session_replication_role = replica",  # no guards: only a date changes, of what this run has made
    "UPDATE billing_stored_replay SET expires_at = now() - interval '1 minute' WHERE expires_at > now()",
    "UPDATE accounts_proof_replay SET expires_at = now() - interval '1 hour' WHERE expires_at > now() - interval '1 hour'",
    "RESET session_replication_role",
)


@dataclass(frozen=True, slots=True)
class Part:
    """A job or a page: milliseconds of processor time per run, of the process and of the database, and what it returned."""

    name: str
    process: float
    database: float
    result: str


class Meter:
    """Measures runs of a function by processor time, which other load on the machine affects least."""

    def __init__(self, postmaster: Postmaster) -> None:
        self._postmaster = postmaster

    def measure(self, name: str, call: Call, rounds: int = 1) -> Part:
        """Run it so many times, and return what one run took."""
        process, database = time.process_time(), self._postmaster.processor_seconds()
        for _ in range(rounds):
            result = call()
        process = time.process_time() - process
        database = self._postmaster.processor_seconds() - database
        return Part(name, 1000 * process / rounds, 1000 * database / rounds, str(result))


def main() -> None:
    """Set up Django, run what was chosen, and print a list of parts."""
    parser = argparse.ArgumentParser(prog="python -m bench.scale_parts", description=__doc__)
    parser.add_argument("part", choices=(CATCH_UP, JOBS, PAGES))
    parser.add_argument("--data", type=Path, required=True, help="the directory of the database")
    parser.add_argument("--url", required=True)
    parser.add_argument("--rounds", type=int, default=20, help="of each page")
    options = parser.parse_args()
    os.environ["DATABASE_JOB_WAIT_SECONDS"] = (
        "0"  # to audit the whole ledger may take longer than it is given by default
    )
    set_up(options.url, options.data)
    logging.disable(logging.CRITICAL)  # rows that no ledger function wrote have findings
    meter = Meter(Postmaster(options.data))
    parts = {
        CATCH_UP: lambda: catch_up(meter),
        JOBS: lambda: jobs(meter),
        PAGES: lambda: pages(meter, options.rounds),
    }
    print(json.dumps([asdict(part) for part in parts[options.part]()]))


def catch_up(meter: Meter) -> Iterator[Part]:
    """Bring the days, seals and margins up to now, as they are in a database in use."""
    for name, call in _finals():
        yield meter.measure(name, call)
    _execute("VACUUM ANALYZE billing_usage_day", "VACUUM ANALYZE billing_usage_subject", "VACUUM ANALYZE billing_seal")


def jobs(meter: Meter) -> Iterator[Part]:
    """Run each job once, after what the calls of this run left has expired; then again without anything to do."""
    _execute(*EXPIRE)
    for name, call in _jobs():
        first = meter.measure(name, call)
        yield first
        if (again := _rounds(first)) > 1:
            call()  # a purge looks once more
            yield meter.measure(f"{name}, nothing to do", call, again)


def pages(meter: Meter, rounds: int) -> Iterator[Part]:
    """Load each page and each route with a report."""
    from bench import console_pages

    named: Iterable[tuple[str, Call]] = chain(
        routes(), portal_reports(), ((f"console: {name}", call) for name, call in console_pages.pages())
    )
    for name, call in named:
        call()
        yield meter.measure(name, call, rounds)


def _rounds(first: Part) -> int:
    """Return how often to repeat a job; once, if it is slow."""
    return min(REPEATS_MAX, int(1000 * REPEATED_SECONDS / max(1.0, first.process + first.database)))


def _finals() -> Iterator[tuple[str, Call]]:
    """Yield the jobs that wait until what they read is final. Here they do not wait: nobody writes."""
    from billing.operations import seals, usage_days

    yield "billing.tasks.roll_up_usage", lambda: usage_days.roll_up(margin=timedelta(0))
    yield "billing.tasks.seal_ledger", lambda: (seals.seal(margin=timedelta(0)) or "nothing")[:8]


def _jobs() -> Iterator[tuple[str, Call]]:
    """Yield each job of the schedule that reads or writes the ledger."""
    from gateway.celery import app
    from gateway.schedule import INTERVAL_SECONDS

    app.loader.import_default_modules()
    finals = dict(_finals())
    for name in sorted(INTERVAL_SECONDS):
        if name.startswith(("billing.", "organizations.")) or name in OTHER_JOBS:
            task: Callable[[], object] = app.tasks[name]
            yield name, finals.get(name, task)


def _execute(*statements: str) -> None:
    from django.db import connection

    with connection.cursor() as cursor:
        for statement in statements:
            cursor.execute(statement)


if __name__ == "__main__":
    main()
