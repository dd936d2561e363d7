"""Settles calls, all at once, and then runs the job that charges. Run as a program with the calls' ids."""

import sys
from functools import partial

from gateway.core.runtime.startup import load_settings

COST = 100_000


def main(*calls: str) -> None:
    """Settle each call on a connection of its own, and charge what that began."""
    from django.utils import timezone

    from billing.operations import auto_top_up_charges
    from tests.factories.billing import settle
    from tests.support.concurrency import at_once

    at_once(*(partial(settle, call, COST) for call in calls))
    auto_top_up_charges.send_all(now=timezone.now())


if __name__ == "__main__":
    load_settings()
    import django

    django.setup()
    main(*sys.argv[1:])
