"""What the processes of a machine count and measure. docs/metrics.md lists each with its labels.

No label has an account, an organization, a key or an address. A label that a caller chooses has only values that are configured.
"""

from prometheus_client import Counter, Gauge, Histogram

from gateway.version import VERSION

CALL_SECONDS = (0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300)
OVERHEAD_SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1)
FIRST_BYTE_SECONDS = (0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60)


def _counter(name: str, text: str, *labels: str) -> Counter:
    return Counter(name, text, labels, registry=None)


def _histogram(name: str, text: str, buckets: tuple[float, ...], *labels: str) -> Histogram:
    return Histogram(name, text, labels, registry=None, buckets=buckets)


class CallInstruments:
    """Those of model requests. The library writes to the files from their first use on."""

    def __init__(self) -> None:
        self.calls = _counter("gateway_calls_total", "Model requests that ended.", "route", "model", "outcome")
        self.seconds = _histogram("gateway_call_seconds", "Time from arrival to end.", CALL_SECONDS, "route")
        self.overhead = _histogram("gateway_overhead_seconds", "The gateway's own part.", OVERHEAD_SECONDS, "route")
        self.first_byte = _histogram(
            "gateway_first_byte_seconds", "Time until an upstream answers.", FIRST_BYTE_SECONDS, "route", "upstream"
        )
        self.charged = _counter("gateway_charged_microusd_total", "Charged to callers.", "model", "product")
        self.upstream_requests = _counter(
            "gateway_upstream_requests_total", "Attempts at upstreams.", "upstream", "outcome"
        )


class LimitInstruments:
    """Those of limits, on all routes."""

    def __init__(self) -> None:
        self._refusals = _counter("gateway_rate_limited_total", "Requests over a limit.", "scope", "limit")

    def count(self, scope: str, limit: str) -> None:
        """Count a request that was refused because of a limit."""
        self._refusals.labels(scope, limit).inc()


class ProcessInstruments:
    """Those of the moment. The files of a process that has ended no longer count."""

    def __init__(self) -> None:
        processes = self._gauge("gateway_processes", "Servers and workers that live.", "livesum", "version")
        processes.labels(VERSION).set(1)
        self.streams = self._gauge("gateway_streams_open", "Open streams and live sessions.", "livesum")
        self.waiting = self._gauge("gateway_database_waiting", "Requests that wait for a connection.", "livesum")
        self.breakers = self._gauge(
            "gateway_upstream_open", "1 if a breaker of the upstream is open.", "livemax", "upstream"
        )

    def _gauge(self, name: str, text: str, mode: str, *labels: str) -> Gauge:
        return Gauge(name, text, labels, registry=None, multiprocess_mode=mode)  # type: ignore[arg-type]


class JobInstruments:
    """Those of Celery workers."""

    def __init__(self) -> None:
        self.runs = _counter("gateway_job_runs_total", "Runs of tasks that ended.", "job", "outcome")
