"""Rate limits that all processes share, counted in PostgreSQL: a number of uses within a window that begins with the
first use.
"""

import hashlib
import math
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db import connection

from accounts.models import Limit
from gateway.core.contract.errors import RateLimited
from gateway.core.database.purge import purge

TAKE = """
INSERT INTO accounts_limit AS kept (digest, used, ends_at) VALUES (%(digest)s, 1, %(ends_at)s)
ON CONFLICT (digest) DO UPDATE
   SET used = CASE WHEN kept.ends_at <= %(now)s THEN 1 ELSE kept.used + 1 END,
       ends_at = CASE WHEN kept.ends_at <= %(now)s THEN EXCLUDED.ends_at ELSE kept.ends_at END
 WHERE kept.ends_at <= %(now)s OR kept.used < %(most)s
"""
"""Writes a row if the use is allowed. The parameters are those of `parameters`."""


@dataclass(frozen=True, slots=True)
class Rate:
    """A limit of `most` uses within `seconds` for each user. `name` keeps the counts of different limits apart."""

    name: str
    most: int
    seconds: int = 60


def take(rate: Rate, of: str, *, now: datetime) -> None:
    """Count one use, or raise RateLimited with the seconds until the window ends. Takes one statement if the use is
    allowed.
    """
    with connection.cursor() as cursor:
        cursor.execute(TAKE, parameters(rate, of, now=now))
        if cursor.rowcount:
            return
    raise used_up(rate, of, now=now)


def parameters(rate: Rate, of: str, *, now: datetime) -> dict[str, Any]:
    """Return the parameters of `TAKE`, for a statement that does more."""
    return {
        "digest": _digest(rate, of),
        "ends_at": now + timedelta(seconds=rate.seconds),
        "now": now,
        "most": rate.most,
    }


def check(rate: Rate, of: str, *, now: datetime) -> None:
    """Raise RateLimited, as `take` would, without counting a use."""
    if Limit.objects.filter(pk=_digest(rate, of), used__gte=rate.most, ends_at__gt=now).exists():
        raise used_up(rate, of, now=now)


def used_up(rate: Rate, of: str, *, now: datetime) -> RateLimited:
    """Build the error for a limit that is used up until its window ends."""
    ends_at = Limit.objects.filter(pk=_digest(rate, of)).values_list("ends_at", flat=True).first() or now
    return limited(ends_at - now)


def limited(wait: timedelta) -> RateLimited:
    """Build the error for a caller that may retry after `wait`."""
    return RateLimited(headers={"Retry-After": str(max(1, math.ceil(wait.total_seconds())))})


def purge_ended(*, now: datetime) -> int:
    """Delete the counts whose window has ended; return how many."""
    return purge(Limit.objects.filter(ends_at__lte=now).order_by("ends_at"))


def _digest(rate: Rate, of: str) -> bytes:
    return hashlib.sha256(f"{rate.name}\0{of}".encode()).digest()
