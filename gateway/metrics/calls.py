"""Counts model requests that have ended.

A request is only noted when it ends; what was noted is written together a moment later (`write`). One store into a file takes as
long as noting all that a request has.
"""

from collections import defaultdict
from collections.abc import Callable
from typing import Any, Generic, TypeVar

from prometheus_client import Counter, Histogram

from gateway.core.telemetry.observation import Observation, Outcome
from gateway.metrics.instruments import CallInstruments
from gateway.metrics.prometheus_internals import observe_all

SECONDS = 1e-9
"""A nanosecond."""

OK = "ok"
"""The outcome of an attempt that an upstream answered as it should."""

Labels = tuple[str, ...]
Noted = TypeVar("Noted")


class Notes(Generic[Noted]):
    """What was noted for the series of one metric since it was written. `store` stores it in one series."""

    def __init__(self, metric: Counter | Histogram, empty: Callable[[], Noted], store: Callable[[Any, Noted], None]):
        self._metric, self._empty, self._store = metric, empty, store
        self._series: dict[Labels, Any] = {}
        self.noted: defaultdict[Labels, Noted] = defaultdict(empty)

    def write(self) -> None:
        """Write what was noted."""
        noted, self.noted = self.noted, defaultdict(self._empty)
        for labels, value in noted.items():
            series = self._series.get(labels)
            if series is None:
                series = self._series[labels] = self._metric.labels(*labels)
            self._store(series, value)


def _counts(counter: Counter) -> Notes[int]:
    return Notes(counter, int, lambda series, count: series.inc(count))


def _times(histogram: Histogram) -> Notes[list[float]]:
    return Notes(histogram, list, observe_all)


class CallCounts:
    """Notes what has ended, in one thread."""

    def __init__(self, instruments: CallInstruments) -> None:
        self._calls = _counts(instruments.calls)
        self._seconds = _times(instruments.seconds)
        self._overhead = _times(instruments.overhead)
        self._first_byte = _times(instruments.first_byte)
        self._charged = _counts(instruments.charged)
        self._upstream_requests = _counts(instruments.upstream_requests)

    def note(self, observation: Observation) -> None:
        """Note a request that has ended."""
        route, model = observation.route, observation.model
        self._calls.noted[route, model, observation.outcome] += 1
        self._seconds.noted[route,].append(observation.duration_ns * SECONDS)
        if observation.attempts:
            self._overhead.noted[route,].append(observation.overhead_ns * SECONDS)
            for attempt in observation.attempts:
                self._upstream_requests.noted[attempt.upstream, attempt.cause or OK] += 1
                if attempt.first_byte_ns is not None:
                    seconds = (attempt.first_byte_ns - attempt.began_ns) * SECONDS
                    self._first_byte.noted[route, attempt.upstream].append(seconds)
        if observation.charge_microusd and observation.outcome == Outcome.SETTLED:
            self._charged.noted[model, observation.product] += observation.charge_microusd

    def write(self) -> None:
        """Write what was noted. Raises OSError if a file cannot grow; what was noted then is lost."""
        self._calls.write()
        self._seconds.write()
        self._overhead.write()
        self._first_byte.write()
        self._charged.write()
        self._upstream_requests.write()
