"""The requests on the console's home page: errors, their causes, and how long upstreams take."""

from datetime import date, datetime
from typing import Any

from django.http import HttpRequest
from django.urls import reverse

from gateway.core.console import home
from gateway.core.console.home import Days, Figure, Listing, Parts, Section
from gateway.core.telemetry.queries import traffic
from gateway.core.telemetry.queries.traffic import Count, Traffic
from gateway.core.telemetry.rules.buckets import quantile_microseconds

MEDIAN, HIGH = 0.5, 0.95


def requests(request: HttpRequest, days: Days, now: datetime) -> Parts:
    """Build the error rate, what failed, and the latency of upstreams."""
    found = traffic.read(days.before, now)
    return Parts(figures=[_errors(found, days)], listings=[_failures(found), _latency(found)])


def _errors(found: Traffic, days: Days) -> Figure:
    def within(first: date, after: date | None = None) -> Count:
        return sum((each for day, each in found.days.items() if day >= first and (not after or day < after)), Count())

    period, before = within(days.first), within(days.before, days.first)
    rates = {day: each.percent for day, each in found.days.items()}
    return Figure(
        title="Error rate",
        today=_share(found.days.get(days.today, Count())),
        yesterday=_share(found.days.get(days.yesterday, Count())),
        period=_share(period),
        before=_share(before),
        unit="percent",
        points=home.by_day(days, rates, "{:.2f} %".format),
        is_good=None if not _points(period, before) else period.percent < before.percent,
        change=_points(period, before),
        note=f"{period.failures:,} of {period.requests:,} requests failed." if period.requests else "",
    )


def _points(period: Count, before: Count) -> str:
    """Compare two shares, in percentage points; empty where they are the same as shown."""
    points = round(period.percent - before.percent, 2)
    return f"{points:+.2f} points" if points and before.requests and period.requests else ""


def _share(count: Count) -> str:
    return f"{count.percent:.2f} %" if count.requests else home.UNKNOWN


def _failures(found: Traffic) -> Listing:
    return Listing(
        title="What failed in the last 24 hours",
        headers=["Model", "Upstream", "Cause", "Requests"],
        rows=[[one.model, one.upstream, one.cause, f"{one.requests:,}"] for one in found.failures],
        empty="No request failed.",
    )


def _latency(found: Traffic) -> Listing:
    rows: list[list[Any]] = [
        [
            one.upstream,
            f"{one.count.requests:,}",
            _share(one.count),
            *(_seconds(one.durations, share) for share in (MEDIAN, HIGH)),
            *(_seconds(one.first_bytes, share) for share in (MEDIAN, HIGH)),
        ]
        for one in found.upstreams
    ]
    headers = ["Upstream", "Requests", "Errors", "Median", "95th", "First byte, median", "First byte, 95th"]
    link = reverse("admin:inference_upstream_changelist")
    return Listing("Upstreams in the last 24 hours", headers, rows, "No request was sent to an upstream.", link)


def _seconds(buckets: list[int], share: float) -> str:
    found = quantile_microseconds(buckets, share)
    if found is None:
        return home.UNKNOWN
    return f"{found / 1000:,.0f} ms" if found < 1_000_000 else f"{found / 1_000_000:,.1f} s"


home.register(Section(20, ("billing.view_call",), requests))
