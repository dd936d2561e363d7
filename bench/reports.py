"""Measures reports of usage and money, and the console's pages, over ten million calls: `python -m bench.reports`.

Starts its own PostgreSQL, fills it (`bench/report_rows.py`), and times the routes, the queries of the portal's pages and the
console's pages (`bench/console_pages.py`, with their number of queries) in this process, before and after calls are summed by day. Prints the 50th and 99th percentiles, the mean processor time
of client, gateway and database together, which other load affects least, the disk size of the days, and the duration of
the job.
"""

import argparse
import gc
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import psycopg

from bench.figures import percentile
from bench.report_rows import fill
from bench.tuned import TunedDatabase

WARM_UP = 3
LIMIT_MILLISECONDS = 100.0
CONSOLE_LIMIT_MILLISECONDS = 300.0
SIZES = """
SELECT relname, pg_size_pretty(pg_total_relation_size(oid)) FROM pg_class
 WHERE relname IN ('billing_usage_day', 'billing_usage_subject', 'billing_reservation', 'billing_usage_record',
                   'billing_transfer', 'billing_margin_day', 'billing_active_account', 'telemetry_hour') ORDER BY relname
"""

Call = Callable[[], object]


def main() -> int:
    """Measure, print, and return 1 if a 99th percentile exceeds the limit once calls are summed."""
    options = _options()
    with tempfile.TemporaryDirectory(prefix="gateway-reports-") as name:
        home = options.data or Path(name)
        with closing(TunedDatabase(home)) as server:
            set_up(server.url, home)
            if server.is_new:
                _timed(
                    "fill", lambda: fill(server.url, calls=options.calls, accounts=options.accounts, busy=options.busy)
                )
            return _measure(server, options.rounds)


def _processor_seconds(server: TunedDatabase) -> float:
    """Return the processor time of this process and of the database so far."""
    return time.process_time() + server.postmaster.processor_seconds()


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench.reports", description=__doc__)
    parser.add_argument("--calls", type=int, default=10_000_000)
    parser.add_argument("--accounts", type=int, default=1_000_000)
    parser.add_argument("--busy", type=int, default=300_000, help="calls of one organization this month")
    parser.add_argument("--rounds", type=int, default=100)
    parser.add_argument("--data", type=Path, help="keep the database in this directory, and use it again")
    return parser.parse_args()


def set_up(database_url: str, home: Path) -> None:
    """Set up Django for a database, and migrate it."""
    os.environ |= {
        "DATABASE_URL": database_url,
        "DATA_DIR": str(home),
        "DJANGO_SETTINGS_MODULE": "gateway.settings.test",
        "MANAGEMENT_REQUESTS_PER_ACCOUNT_MINUTE": "1000000",
        "REPORTS_PER_ACCOUNT_MINUTE": "1000000",
    }
    import django
    from django.core.management import call_command

    django.setup()
    call_command("migrate", verbosity=0)


def _measure(server: TunedDatabase, rounds: int) -> int:
    from django.utils import timezone

    from billing.operations import usage_days
    from gateway.core.telemetry.operations import traffic_days

    gc.collect()
    gc.freeze()  # as servers do after their start
    if server.is_new:
        print("Without the days of use:")
        _time_all(server, max(3, rounds // 30))
    _timed("sum up all calls", usage_days.roll_up)
    _timed("sum up all requests", lambda: traffic_days.roll_up(now=timezone.now()))
    with psycopg.connect(server.url, autocommit=True) as connection:
        connection.execute("VACUUM ANALYZE billing_usage_day")
        for table in ("billing_usage_subject", "billing_margin_day", "billing_active_account", "billing_active_day"):
            connection.execute(f"VACUUM ANALYZE {table}".encode())
        for name, size in connection.execute(SIZES):
            print(f"  {name}: {size}")
    _timed("sum up nothing new", usage_days.roll_up)
    print("With the days of use:")
    is_slow = _time_all(server, rounds) > LIMIT_MILLISECONDS
    return int(_time_console(server, rounds) > CONSOLE_LIMIT_MILLISECONDS or is_slow)


def _time_all(server: TunedDatabase, rounds: int) -> float:
    return _time(server, rounds, (*routes(), *portal_reports()))


def _time_console(server: TunedDatabase, rounds: int) -> float:
    from bench import console_pages

    print("Pages of the console:")
    return _time(server, rounds, console_pages.pages())


def _time(server: TunedDatabase, rounds: int, calls: Iterable[tuple[str, Call]]) -> float:
    """Time each call, print a row of the table for it, and return the slowest 99th percentile in milliseconds."""
    slowest = 0.0
    for name, call in calls:
        for _ in range(WARM_UP):
            result = call()
        before = _processor_seconds(server)
        taken = sorted(_milliseconds(call) for _ in range(rounds))
        busy = (_processor_seconds(server) - before) * 1000 / rounds
        slowest = max(slowest, percentile(taken, 99))
        times = f"p50 {percentile(taken, 50):7.1f} ms  p99 {percentile(taken, 99):7.1f} ms  processors {busy:7.1f} ms"
        print(f"  {name:<44} {times}  {result}")
        sys.stdout.flush()
    return slowest


def routes() -> Iterator[tuple[str, Call]]:
    """Yield the name of each route and a function that requests it and returns its status."""
    owner = "did:web:bench.example:1"
    member = "did:web:bench.example:7"
    for org in ("org_busy", "org_limit", "org_small"):
        for month in ("current", "previous"):
            yield f"usage?month={month} of {org}", _get(owner, f"/v1/organizations/{org}/usage", f"?month={month}")
        yield f"billing of {org}", _get(owner, f"/v1/organizations/{org}/billing")
        yield f"billing/members of {org}", _get(owner, f"/v1/organizations/{org}/billing/members")
    yield "usage?limit=100 of an account", _get(member, "/v1/usage", "?limit=100")
    for name, who, number in (("its owner", owner, 1), ("a member", member, 7)):
        yield (
            f"usage?limit=100 of org_busy for {name}",
            _get(who, "/v1/usage", "?limit=100", org_id="org_busy", membership_id=f"mem_org_busy_{number}"),
        )
    yield (
        "usage?limit=100 of org_busy for a rare member",
        _get(
            "did:web:bench.example:200", "/v1/usage", "?limit=100", org_id="org_busy", membership_id="mem_org_busy_200"
        ),
    )


def _get(did: str, path: str, query: str = "", **token: Any) -> Call:
    from django.test import Client

    from accounts.models import Account
    from tests.factories.accounts import Caller
    from tests.factories.proofs import Signer, mint_token

    client, signer = Client(), Signer()
    who = Account.objects.get(did=did)

    def call() -> object:
        caller = Caller(who, (), signer, minted())
        answer = client.get(path + query, headers=caller.headers("GET", path))
        return answer.status_code if answer.status_code == 200 else answer.json()["error"]["code"]

    begun = time.monotonic()
    tokens: list[str] = []

    def minted() -> str:
        if not tokens or time.monotonic() - begun > 200:
            tokens[:] = [mint_token(did, ("usage:read", "wallet:read", "orgs:read"), signer, **token)]
        return tokens[0]

    return call


def portal_reports() -> Iterator[tuple[str, Call]]:
    """Yield the name of each report of the portal and a function that reads it."""
    from django.utils import timezone

    from billing.queries import usage_reports
    from billing.rules.months import month_around, month_before

    now = timezone.now()
    for label, month in (("this month", month_around(now)), ("last month", month_before(now))):
        for owner in (("organization", "org_busy"), ("account", "did:web:bench.example:7")):
            for report in (usage_reports.by_product_and_member, usage_reports.by_model, usage_reports.by_day):

                def call(report: Any = report, owner: Any = owner, month: Any = month) -> object:
                    found = report(owner, month)
                    return f"{len(found if isinstance(found, tuple) else found.rows)} rows"

                yield f"{report.__name__} of {owner[1][-9:]} {label}", call


def _milliseconds(call: Call) -> float:
    begun = time.perf_counter()
    call()
    return (time.perf_counter() - begun) * 1000


def _timed(name: str, work: Call) -> None:
    begun = time.monotonic()
    work()
    print(f"{name}: {time.monotonic() - begun:.1f} s")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
