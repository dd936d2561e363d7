"""Seal closed records: hash them, so that erasing or rewriting one is detected."""

import logging
from datetime import datetime, timedelta

from django.db import connection

from billing.operations import finality

log = logging.getLogger("billing.seals")


def seal(*, margin: timedelta = finality.MARGIN) -> str | None:
    """Seal what became final until `margin` ago; return the new end of the chain in hex, or None if nothing was
    sealed."""
    ends_at = finality.final_until(margin)
    if ends_at is None:
        log.warning("nothing was sealed: a transaction has been writing for more than %d s", finality.WAIT_SECONDS)
        return None
    return seal_until(ends_at)


def seal_until(ends_at: datetime) -> str | None:
    """Seal what became final before `ends_at`; return as `seal`. The caller ensures that all of it is committed."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT encode(billing_seal_until(%s), 'hex')", [ends_at])
        chain: str | None = cursor.fetchone()[0]
    if chain is not None:
        log.info("sealed until %s: %s", ends_at.isoformat(), chain)
    return chain
