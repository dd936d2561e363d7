"""Calls under rate limits, weighed and counted by the ledger's functions at any time."""

import time
from collections.abc import Sequence
from datetime import datetime
from typing import Any, NamedTuple, cast

import orjson
from django.db import connection

from billing.models import LimitMeter
from billing.rules.limits import Applied, Level, LimitScope, Quotas
from inference.metering.limits import RequestLimits

_LIMITS = """
(SELECT array_agg(ROW(l.scope, l.subject, l.requests, l.tokens, l.concurrent)::billing_rate_limit ORDER BY l.place)
   FROM unnest(%(scopes)s::text[], %(subjects)s::text[], %(requests)s::bigint[], %(tokens)s::bigint[], %(concurrent)s::bigint[])
          WITH ORDINALITY AS l (scope, subject, requests, tokens, concurrent, place))
"""
_WEIGH = f"SELECT is_exceeded, levels FROM billing_weigh_call({_LIMITS}, %(kind)s, %(key)s, %(member)s, %(now)s)"
_READ = f"SELECT subjects, counted, places FROM billing_read_limits({_LIMITS}, %(kind)s, %(key)s, %(member)s, %(now)s, '{{}}', '{{}}')"
_WRITE = "SELECT billing_write_meters(%s, %s::bigint[], %s)"
_ROOM, _ADDED = 4, 5
_LOCK = f"SELECT billing_lock_limits({_LIMITS})"


class Weighed(NamedTuple):
    """Whether a call was refused, and the levels before it."""

    is_exceeded: bool
    levels: list[Level]


def applied(scope: str, subject: str, *numbers: int | None, **named: int | None) -> Applied:
    """Build a limit as it applies to a call."""
    return Applied(LimitScope(scope), subject, Quotas(*numbers, **named))


def admit(
    *limits: Applied, now: datetime, owner: tuple[str, str] = ("account", ""), member: str | None = None
) -> Weighed:
    """Weigh a call as the first statement does, and count it unless it is refused."""
    arguments = _arguments(limits) | {
        "kind": owner[0],
        "key": owner[1],
        "member": member,
        "now": now,
    }
    with connection.cursor() as cursor:
        cursor.execute(_LOCK, arguments)
        cursor.execute(_READ, arguments)
        [(subjects, counted, places)] = cursor.fetchall()
        is_exceeded = any(counted[place + _ROOM] < 1 for place in places)
        for place in [] if is_exceeded else places:
            counted[place + _ADDED] += 1
        cursor.execute(_WRITE, [subjects, counted, now])
    return Weighed(is_exceeded, [Level(*counted[place + 1 : place + 4]) for place in places])


def look(*limits: Applied, now: datetime) -> Weighed:
    """Weigh for an answer that is no call, as the first statement does: without a lock."""
    arguments = {**_arguments(limits), "kind": "account", "key": "", "member": None, "now": now}
    with connection.cursor() as cursor:
        cursor.execute(_WEIGH, arguments)
        [(is_exceeded, levels)] = cursor.fetchall()
    return Weighed(is_exceeded, [Level(*levels[at + 1 : at + 4]) for at in range(0, len(levels), 4)])


def element(*limits: Applied) -> list[dict[str, Any]]:
    """Return limits as a member of a batch's call."""
    return [
        {
            "scope": limit.scope,
            "subject": limit.subject,
            "requests": limit.quotas.requests_per_minute,
            "tokens": limit.quotas.tokens_per_minute,
            "concurrent": limit.quotas.concurrent,
        }
        for limit in limits
    ]


def argument(*limits: Applied) -> orjson.Fragment:
    """Return limits as a member of a batch's call, as the process writes them."""
    made = RequestLimits(cast("Any", None))
    made.applied = limits
    return made.argument()


def meter(scope: str, subject: str) -> LimitMeter:
    """Return a subject's meter."""
    return LimitMeter.objects.get(scope=scope, subject=subject)


def _arguments(limits: Sequence[Applied]) -> dict[str, Any]:
    return {
        "scopes": [limit.scope.value for limit in limits],
        "subjects": [limit.subject for limit in limits],
        "requests": [limit.quotas.requests_per_minute for limit in limits],
        "tokens": [limit.quotas.tokens_per_minute for limit in limits],
        "concurrent": [limit.quotas.concurrent for limit in limits],
    }


def admissible(quota: int, since: float) -> range:
    """Return how many of many calls a limit of requests may have admitted since a time (of `time.monotonic`): its burst, and one
    each 60 / quota seconds, which a loaded machine may take to send them."""
    return range(quota, quota + int((time.monotonic() - since) * quota / 60) + 1)
