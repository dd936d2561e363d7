"""A process that bills seats on request: writes `ready`, reads a line, runs the jobs, writes `done`."""

import sys
from datetime import datetime

from gateway.core.runtime.startup import load_settings


def tell(word: str) -> None:
    """Report the jobs' progress to the test."""
    sys.stdout.write(f"{word}\n")
    sys.stdout.flush()


def main(now: datetime, since: datetime) -> None:
    """Run the jobs as of `now`."""
    from billing.operations import invoice_payments, invoices
    from organizations.operations import seat_invoices

    tell("ready")
    sys.stdin.readline()
    seat_invoices.draft_all(now=now)
    invoices.issue_all(since=since, now=now)
    invoice_payments.follow(now=now)
    invoice_payments.collect(now=now)
    tell("done")


if __name__ == "__main__":
    load_settings()
    import django

    django.setup()
    main(*map(datetime.fromisoformat, sys.argv[1:]))
