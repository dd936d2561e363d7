"""Measures recovery: the time from the end of a fault's cause until service, per process and route."""

from collections.abc import Iterator
from typing import NamedTuple

from tests.chaos.journal import Attempt, Disturbance, Journal
from tests.chaos.probes import ROUTES

RETURN_SECONDS = 5.0


class Return(NamedTuple):
    """The time after a fault for which a route of a process still failed; 0 if its first probe succeeded."""

    process: str
    route: str
    kind: str
    seconds: float


def returns(journal: Journal) -> Iterator[Return]:
    """Measure every process and route after every fault, up to the next one."""
    disturbances = sorted(journal.disturbances, key=lambda each: each.started_at)
    ends = [*(each.started_at for each in disturbances[1:]), float("inf")]
    for route in ROUTES:
        probes = list(journal.of(route))
        for process in sorted({probe.process for probe in probes}):
            own = [probe for probe in probes if probe.process == process]
            for disturbance, until in zip(disturbances, ends, strict=False):  # a run without faults has one end
                yield Return(process, route, disturbance.kind, _still_failed(own, disturbance, until))


def slow_returns(journal: Journal) -> list[Return]:
    """List the recoveries that took too long."""
    return [each for each in returns(journal) if each.seconds > RETURN_SECONDS + journal.lag_seconds]


def _still_failed(probes: list[Attempt], fault: Disturbance, until: float) -> float:
    """Return when the last failed probe was sent, in seconds after the fault's end.

    A probe counts if it was answered before the next fault, or had enough time to be answered.
    """
    counted = [
        probe
        for probe in probes
        if fault.ended_at <= probe.started_at < until
        and (probe.ended_at <= until or until - probe.started_at > RETURN_SECONDS)
    ]
    return max((probe.started_at - fault.ended_at for probe in counted if not probe.is_served), default=0.0)
