"""Rate limits that each process counts alone, in memory: they guard no secret, and cost the database nothing."""

import math

from django.conf import settings

from gateway.core.contract.rate_limits import RateLimit
from gateway.core.contract.route_limits import ROUTE_LIMITS, RouteLimit
from gateway.core.runtime.window_counts import WindowCounts

_counts = {limit.name: WindowCounts(limit.seconds) for limit in ROUTE_LIMITS if not limit.is_exact}


def take(limit: RouteLimit, of: str) -> RateLimit:
    """Count one use and return what is left, or raise RateLimited with the seconds until the window ends."""
    most: int = getattr(settings, limit.setting)
    is_counted, used, left_seconds = _counts[limit.name].take(of, most)
    if not is_counted:
        raise limit.exceeded(most, max(1, math.ceil(left_seconds)))
    return limit.state(most, used, math.ceil(left_seconds))


def check(limit: RouteLimit, of: str) -> None:
    """Raise RateLimited, as `take` would, without counting a use."""
    used, left_seconds = _counts[limit.name].used(of)
    if used and used >= (most := int(getattr(settings, limit.setting))):
        raise limit.exceeded(most, max(1, math.ceil(left_seconds)))


def count(limit: RouteLimit, of: str) -> None:
    """Count one use, without a refusal."""
    _counts[limit.name].take(of, getattr(settings, limit.setting))


def give_back(limit: RouteLimit, of: str) -> None:
    """Uncount one use."""
    _counts[limit.name].give_back(of)


def forget() -> None:
    """Forget all uses, as a new process does."""
    for counts in _counts.values():
        counts.clear()
