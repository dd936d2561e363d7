"""Reads the rate limits in force, and what is used of them."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from typing import NamedTuple

from django.db.models import Count, Q

from billing.models import Call, Limit, LimitMeter
from billing.models.call import UNDER_WAY
from billing.rules.limits import UNIT, Limits, LimitScope, Quotas, drained, used_of

BUSIEST = 20
"""The subjects of a general limit that are shown: those with the most calls under way."""

MICROSECOND = timedelta(microseconds=1)

_SUBJECTS = {
    LimitScope.ACCOUNT: ("wallet__owner_key", Q(wallet__owner_kind="account")),
    LimitScope.ORGANIZATION: ("wallet__owner_key", Q(wallet__owner_kind="organization")),
    LimitScope.MEMBER: ("membership_id", Q(membership_id__isnull=False)),
    LimitScope.CLIENT: ("client_id", Q(client_id__isnull=False)),
    LimitScope.ALIAS: ("model", Q()),
}
"""The column that names the subject of a call in each scope, and which calls have one."""

Subject = tuple[str, str]


class Used(NamedTuple):
    """What one subject has used of its limit now; None without that number."""

    subject: str
    requests: int | None
    tokens: int | None
    concurrent: int | None


def in_force() -> Limits:
    """Read every limit."""
    rows = Limit.objects.values_list("scope", "subject", "requests_per_minute", "tokens_per_minute", "concurrent")
    return Limits({(LimitScope(scope), subject): Quotas(*numbers) for scope, subject, *numbers in rows})


def used_by_subjects(limits: Iterable[Limit], *, now: datetime) -> dict[int, Used]:
    """Return what is used of those limits that name their subject, by the limit's id."""
    named = [limit for limit in limits if limit.subject]
    subjects = [(limit.scope, limit.subject or "") for limit in named]
    meters, counts = _meters(subjects, now), _counts(subjects)
    return {limit.pk: _used(limit, limit.subject or "", meters, counts) for limit in named}


def used_by_busiest(limit: Limit, *, now: datetime) -> list[Used]:
    """Return what the busiest subjects of a general limit have used of it, without those that have their own."""
    column, is_of_scope = _SUBJECTS[LimitScope(limit.scope)]
    own = Limit.objects.filter(scope=limit.scope, subject__isnull=False).values("subject")
    calls = Call.objects.filter(UNDER_WAY, is_of_scope).exclude(**{f"{column}__in": own}).values_list(column)
    found = calls.annotate(count=Count("pk")).order_by("-count", column)[:BUSIEST]
    counts = {(limit.scope, subject): count for subject, count in found}
    meters = _meters(list(counts), now)
    return [_used(limit, subject, meters, counts) for _, subject in counts]


def _used(limit: Limit, subject: str, meters: Mapping[Subject, LimitMeter], counts: Mapping[Subject, int]) -> Used:
    meter, open_calls = meters.get((limit.scope, subject)), counts.get((limit.scope, subject), 0)
    return Used(
        subject,
        None if limit.requests_per_minute is None else used_of(meter.requests_level if meter else 0),
        None if limit.tokens_per_minute is None else used_of(meter.tokens_level if meter else 0),
        None if limit.concurrent is None else open_calls,
    )


def _meters(subjects: Iterable[Subject], now: datetime) -> dict[Subject, LimitMeter]:
    """Read the meters of these subjects, drained to now."""
    scopes, names = {scope for scope, _ in subjects}, {name for _, name in subjects}
    limits = in_force()
    meters = {
        (each.scope, each.subject): each for each in LimitMeter.objects.filter(scope__in=scopes, subject__in=names)
    }
    for meter in meters.values():
        quota = limits.of(LimitScope(meter.scope), meter.subject).requests_per_minute or 1
        level = min(meter.requests_level, quota * UNIT)  # the quota may have been greater
        meter.requests_level = drained(level, (now - meter.requests_at) // MICROSECOND, quota)
        if meter.tokens_quota:
            meter.tokens_level = drained(meter.tokens_level, (now - meter.tokens_at) // MICROSECOND, meter.tokens_quota)
    return meters


def _counts(subjects: Iterable[Subject]) -> dict[Subject, int]:
    """Count the calls under way of these subjects."""
    by_scope: dict[str, list[str]] = defaultdict(list)
    for scope, subject in subjects:
        by_scope[scope].append(subject)
    found: dict[Subject, int] = {}
    for scope, names in by_scope.items():
        column, is_of_scope = _SUBJECTS[LimitScope(scope)]
        calls = Call.objects.filter(UNDER_WAY, is_of_scope, **{f"{column}__in": names}).values_list(column)
        found |= {(scope, subject): count for subject, count in calls.annotate(count=Count("pk"))}
    return found
