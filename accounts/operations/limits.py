"""Rate limits that all processes share, counted in PostgreSQL: a number of uses within a window that begins with the
first use.
"""

import hashlib
import math
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db import connection

from accounts.models import Limit
from gateway.core.contract.errors import RateLimited
from gateway.core.database.purge import purge

_TAKE = """
INSERT INTO accounts_limit AS kept (digest, used, ends_at) VALUES (%(digest)s, 1, %(ends_at)s)
ON CONFLICT (digest) DO UPDATE
   SET used = CASE WHEN kept.ends_at <= %(now)s THEN 1 ELSE kept.used + 1 END,
       ends_at = CASE WHEN kept.ends_at <= %(now)s THEN EXCLUDED.ends_at ELSE kept.ends_at END
 WHERE kept.ends_at <= %(now)s OR kept.used < %(most)s
"""


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
    digest = hashlib.sha256(f"{rate.name}\0{of}".encode()).digest()
    ends_at = now + timedelta(seconds=rate.seconds)
    with connection.cursor() as cursor:
        cursor.execute(_TAKE, {"digest": digest, "ends_at": ends_at, "now": now, "most": rate.most})
        if cursor.rowcount:
            return
    ends_at = Limit.objects.filter(pk=digest).values_list("ends_at", flat=True).first() or now
    raise limited(ends_at - now)


def limited(wait: timedelta) -> RateLimited:
    """Build the error for a caller that may retry after `wait`."""
    return RateLimited(headers={"Retry-After": str(max(1, math.ceil(wait.total_seconds())))})


def purge_ended(*, now: datetime) -> int:
    """Delete the counts whose window has ended; return how many."""
    return purge(Limit.objects.filter(ends_at__lte=now).order_by("ends_at"))
