"""`manage.py move_ledger_month 2025-10`: moves a month's closed calls out of the hot tables while calls continue."""

import time
from collections import Counter
from collections.abc import Iterable
from datetime import date, datetime, timedelta
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import ProgrammingError
from django.template.defaultfilters import pluralize
from django.utils import timezone
from psycopg.errors import InsufficientPrivilege

from billing.operations import ledger_months
from billing.operations.ledger_months import Batch, LedgerBusy
from billing.rules.months import Month, name_of, read_month

PROGRESS_SECONDS = 10.0


class Command(BaseCommand):
    """Moves calls that can no longer change into monthly tables. May be stopped and rerun at any time."""

    help = (
        "Move the closed calls of old months, with their usage records and charges, into tables of their own. Run it as the "
        "owner of the tables. Everything that reads the ledger still finds them."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "months", nargs="+", metavar="YYYY-MM", help="a UTC month that ended LEDGER_HOT_DAYS ago or earlier"
        )
        parser.add_argument("--dry-run", action="store_true", help="say what would move and what would stay")

    def handle(self, *args: Any, months: list[str], dry_run: bool, **options: Any) -> None:
        """Print for each month what moved and what stays, or that there is nothing to move."""
        before = timezone.now() - timedelta(days=settings.LEDGER_HOT_DAYS)
        for month in [_read(name, before) for name in months]:
            try:
                self._move(month, before, is_trial=dry_run)
            except LedgerBusy as error:
                raise CommandError(f"{name_of(month)}: a table is busy; run this again later. {error}") from error
            except ProgrammingError as error:
                if isinstance(error.__cause__, InsufficientPrivilege):
                    raise CommandError(
                        "Only the owner of the tables may move rows. Use the DATABASE_URL with which `prepare` is run."
                    ) from error
                raise

    def _move(self, month: Month, before: datetime, *, is_trial: bool) -> None:
        first = month[0].date()
        if is_trial or not any(batch.calls for batch in ledger_months.preview(first, before=before)):
            self._report(month, "would move", _total(ledger_months.preview(first, before=before)))
            return
        if ledger_months.add_tables(first):
            self.stdout.write(f"{name_of(month)}: created its tables")
        self._report(month, "moved", self._run(first, month, before))
        ledger_months.analyze()

    def _run(self, first: date, month: Month, before: datetime) -> Batch:
        """Move everything, and print the progress from time to time."""
        began_at = reported_at = time.monotonic()
        done: list[Batch] = []
        for batch in ledger_months.move(first, before=before):
            done = [_total([*done, batch])]
            if time.monotonic() - reported_at >= PROGRESS_SECONDS:
                reported_at = time.monotonic()
                rate = done[0].rows / (reported_at - began_at)
                self.stdout.write(
                    f"{name_of(month)}: moved {done[0].calls:,} calls so far, {rate:,.0f} rows per second"
                )
        return _total(done)

    def _report(self, month: Month, verb: str, total: Batch) -> None:
        stay = ", ".join(f"{count:,} {reason}" for reason, count in sorted(total.staying.items()))
        rest = f"; {total.staying.total():,} stay: {stay}" if stay else ""
        if not total.looked_at:
            self.stdout.write(f"{name_of(month)}: there are no calls of this month in the hot tables")
        elif not total.calls:
            self.stdout.write(f"{name_of(month)}: nothing to move{rest}")
        else:
            rows = f" ({_count(total.rows, 'row')})" if total.rows else ""
            self.stdout.write(f"{name_of(month)}: {verb} {_count(total.calls, 'call')}{rows}{rest}")


def _read(name: str, before: datetime) -> Month:
    try:
        month = read_month(name)
    except ValueError as error:
        raise CommandError(f"{name}: {error}") from error
    if month[1] > before:
        raise CommandError(f"{name}: a month can move {settings.LEDGER_HOT_DAYS} days after its end (LEDGER_HOT_DAYS).")
    return month


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{pluralize(number)}"


def _total(batches: Iterable[Batch]) -> Batch:
    looked_at = calls = rows = 0
    staying: Counter[str] = Counter()
    for batch in batches:
        looked_at, calls, rows = looked_at + batch.looked_at, calls + batch.calls, rows + batch.rows
        staying += batch.staying
    return Batch(None, looked_at, calls, rows, staying)
