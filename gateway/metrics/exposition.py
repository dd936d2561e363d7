"""Renders all metrics of this machine in Prometheus' text format."""

from collections.abc import Iterator, Mapping
from pathlib import Path

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.multiprocess import MultiProcessCollector
from prometheus_client.registry import Collector

from gateway.metrics import numbers
from gateway.metrics.figures import Figures


def render(folder: Path, figures: Figures | None) -> bytes:
    """Return what the processes of the folder have counted, and the figures of the database; None if it is away.

    Raises OSError if the folder cannot be written.
    """
    registry = CollectorRegistry()
    registry.register(DatabaseCollector(figures))
    with numbers.guarded(folder):
        numbers.forget_dead(folder)
        MultiProcessCollector(registry, str(folder))
        return generate_latest(registry)


class DatabaseCollector(Collector):
    """The database's part. Where it is away, there is only `gateway_database_up 0`: no figure is better than an old one."""

    def __init__(self, figures: Figures | None) -> None:
        self._figures = figures

    def collect(self) -> Iterator[GaugeMetricFamily]:
        """Yield the families."""
        yield _gauge("gateway_database_up", "1 if the database answered this scrape.", self._figures is not None)
        if self._figures is not None:
            yield from _families(self._figures)


def _families(figures: Figures) -> Iterator[GaugeMetricFamily]:
    yield _gauge("gateway_held_microusd", "Held by open calls.", figures.held_microusd)
    yield _gauge("gateway_reviews_open", "Calls in review.", figures.reviews)
    yield _gauge("gateway_review_oldest_seconds", "Age of the oldest call in review.", figures.oldest_review_seconds)
    yield _gauge("gateway_audit_findings", "Findings of the newest audits.", figures.audit_findings)
    yield _gauge("gateway_events_pending", "Events and deliveries that are due.", figures.events_pending)
    yield _gauge("gateway_deliveries_pending", "Deliveries that are due.", figures.deliveries_pending)
    yield _gauge("gateway_delivery_oldest_seconds", "Delay of the oldest of them.", figures.oldest_delivery_seconds)
    yield _gauge("gateway_endpoints_failing", "Endpoints that fail, or were disabled.", figures.endpoints_failing)
    text = "Folders of journals that nobody reads, or that cannot be closed."
    yield _gauge("gateway_journal_folders_alarming", text, figures.journal_folders)
    name = "gateway_job_last_success_timestamp_seconds"
    yield _by_job(name, "When a run of the job last succeeded.", figures.successes)
    yield _by_job("gateway_job_alarming", "1 if the job failed, or is overdue.", figures.alarming)


def _gauge(name: str, text: str, value: float) -> GaugeMetricFamily:
    return GaugeMetricFamily(name, text, value=float(value))


def _by_job(name: str, text: str, values: Mapping[str, float]) -> GaugeMetricFamily:
    family = GaugeMetricFamily(name, text, labels=["job"])
    for job, value in sorted(values.items()):
        family.add_metric([job], float(value))
    return family
