"""How the calls of a model have gone at each of its upstreams lately, from the sums of telemetry."""

from dataclasses import dataclass, field
from datetime import datetime, timedelta

from django.db.models import Max

from gateway.core.telemetry.models import HourlyTraffic, RequestTrace
from gateway.core.telemetry.rules.buckets import added, empty, quantile_microseconds

BAD = ("failed", "released", "review")
"""The outcomes of calls that an upstream did not answer as it should."""

ERRORS_SINCE = timedelta(days=1)
SUCCESS_SINCE = timedelta(days=14)


@dataclass(slots=True)
class Health:
    """The calls at one upstream since a full hour, with two histograms of durations. `last_success` is the hour of the last
    one that was charged; `last_error` and `last_cause` are those of the last that was not."""

    calls: int = 0
    errors: int = 0
    duration: list[int] = field(default_factory=empty)
    first_byte: list[int] = field(default_factory=empty)
    last_success: datetime | None = None
    last_error: datetime | None = None
    last_cause: str = ""

    @property
    def median_milliseconds(self) -> int | None:
        """Return the median from a call's arrival to its end."""
        return _milliseconds(self.duration)

    @property
    def first_byte_milliseconds(self) -> int | None:
        """Return the median until the first byte of the upstream."""
        return _milliseconds(self.first_byte)


def since(now: datetime) -> datetime:
    """Return the full hour that the sums begin with: an hour ago, or a little more."""
    return (now - timedelta(hours=1)).replace(minute=0, second=0, microsecond=0)


def by_upstream(model: str, upstreams: list[str], now: datetime) -> dict[str, Health]:
    """Return how a model's calls have gone at each of these upstreams."""
    found = {name: Health() for name in upstreams}
    rows = HourlyTraffic.objects.filter(hour__gte=since(now), model=model, upstream__in=upstreams)
    for row in rows.filter(outcome__in=("settled", *BAD)):
        health = found[row.upstream]
        health.calls += row.requests
        if row.outcome in BAD:
            health.errors += row.requests
        health.duration = added(health.duration, row.duration_buckets)
        health.first_byte = added(health.first_byte, row.first_byte_buckets)
    for name, hour in _last_success(model, upstreams, now):
        found[name].last_success = hour
    for name, health in found.items():
        _note_last_error(health, model, name, now)
    return found


def _last_success(model: str, upstreams: list[str], now: datetime) -> list[tuple[str, datetime]]:
    rows = HourlyTraffic.objects.filter(hour__gte=now - SUCCESS_SINCE, model=model, upstream__in=upstreams)
    return list(rows.filter(outcome="settled").values_list("upstream").annotate(last=Max("hour")))


def _note_last_error(health: Health, model: str, upstream: str, now: datetime) -> None:
    rows = RequestTrace.objects.filter(began_at__gte=now - ERRORS_SINCE, outcome__in=BAD, model=model)
    last = rows.filter(upstream=upstream).order_by("-began_at", "-id").values_list("began_at", "cause").first()
    if last is not None:
        health.last_error, health.last_cause = last


def _milliseconds(histogram: list[int]) -> int | None:
    microseconds = quantile_microseconds(histogram, 0.5)
    return None if microseconds is None else round(microseconds / 1000)
