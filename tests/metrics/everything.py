"""A scrape in which each metric has a series."""

from pathlib import Path

from gateway.core.telemetry.observation import Observation, Outcome
from gateway.metrics import exposition
from gateway.metrics.calls import CallCounts
from gateway.metrics.figures import Figures
from gateway.metrics.instruments import CallInstruments, JobInstruments, LimitInstruments, ProcessInstruments
from tests.metrics.text import Scrape

JOB = "billing.tasks.reap"
FIGURES = Figures(1, 2, 3.0, 4, 5, 6, 7.0, 8, 9, {JOB: 9.0}, {JOB: True})


def everything(folder: Path) -> Scrape:
    """Count one of each kind, and return what is served then."""
    counts = CallCounts(CallInstruments())
    counts.note(_call())
    counts.write()
    LimitInstruments().count("account", "requests_per_minute")
    JobInstruments().runs.labels(JOB, "done").inc()
    moment = ProcessInstruments()
    moment.streams.set(1)
    moment.waiting.set(1)
    moment.breakers.labels("primary").set(1)
    return Scrape(exposition.render(folder, FIGURES).decode())


def _call() -> Observation:
    call = Observation("chat.completions", "req_1")
    call.model, call.product, call.outcome, call.charge_microusd = "fast", "studio", Outcome.SETTLED, 123
    call.begin_attempt("1", "primary")
    call.begin_answer(200)
    call.end_attempt()
    call.ended_ns = call.began_ns + 1
    return call
