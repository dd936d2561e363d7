"""Rate limits that all processes share, counted in PostgreSQL: a number of uses within a window that begins with the
first use.
"""

import hashlib
import math
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db import connection
from django.db.models import F

from accounts.models import Limit
from gateway.core.contract.errors import RateLimited
from gateway.core.contract.rate_limits import RateLimit
from gateway.core.contract.route_limits import RouteLimit
from gateway.core.database.purge import purge

TAKE = """
INSERT INTO accounts_limit AS kept (digest, used, ends_at) VALUES (%(digest)s, 1, %(ends_at)s)
ON CONFLICT (digest) DO UPDATE
   SET used = CASE WHEN kept.ends_at BETWEEN %(begun)s AND %(latest)s THEN kept.used + 1 ELSE 1 END,
       ends_at = CASE WHEN kept.ends_at BETWEEN %(begun)s AND %(latest)s THEN kept.ends_at ELSE EXCLUDED.ends_at END
 WHERE kept.ends_at NOT BETWEEN %(begun)s AND %(latest)s OR kept.used < %(most)s
RETURNING used, ends_at
"""
"""Writes a row if the use is allowed. The parameters are those of `parameters`.

A window that ends later than two windows from now began when a clock was wrong, and is over: it would lock its user out.
"""

_MOMENT = timedelta(microseconds=1)


def take(limit: RouteLimit, of: str, *, now: datetime) -> RateLimit:
    """Count one use and return what is left, or raise RateLimited with the seconds until the window ends. Takes one
    statement if the use is allowed.
    """
    with connection.cursor() as cursor:
        cursor.execute(TAKE, parameters(limit, of, now=now))
        row = cursor.fetchone()
    if row is None:
        raise used_up(limit, of, now=now)
    return state(limit, *row, now=now)


def parameters(limit: RouteLimit, of: str, *, now: datetime) -> dict[str, Any]:
    """Return the parameters of `TAKE`, for a statement that does more."""
    window = timedelta(seconds=limit.seconds)
    return {
        "digest": _digest(limit, of),
        "ends_at": now + window,
        "begun": now + _MOMENT,
        "latest": now + 2 * window,
        "most": _most(limit),
    }


def state(limit: RouteLimit, used: int, ends_at: datetime, *, now: datetime) -> RateLimit:
    """Return what is left of a limit, from what `TAKE` returned."""
    return limit.state(_most(limit), used, _seconds(ends_at - now))


def give_back(limit: RouteLimit, of: str, *, now: datetime) -> None:
    """Uncount one use of a window that has not ended."""
    Limit.objects.filter(pk=_digest(limit, of), used__gt=0, ends_at__gt=now).update(used=F("used") - 1)


def used_up(limit: RouteLimit, of: str, *, now: datetime) -> RateLimited:
    """Build the error for a limit that is used up until its window ends."""
    ends_at = Limit.objects.filter(pk=_digest(limit, of)).values_list("ends_at", flat=True).first() or now
    return limit.exceeded(_most(limit), _seconds(ends_at - now))


def purge_ended(*, now: datetime) -> int:
    """Delete the counts whose window has ended; return how many."""
    return purge(Limit.objects.filter(ends_at__lte=now).order_by("ends_at"))


def _most(limit: RouteLimit) -> int:
    return int(getattr(settings, limit.setting))


def _seconds(wait: timedelta) -> int:
    return max(1, math.ceil(wait.total_seconds()))


def _digest(limit: RouteLimit, of: str) -> bytes:
    return hashlib.sha256(f"{limit.name}\0{of}".encode()).digest()
