"""`python -m tests.metrics.cost`: measures the processor time that observing a call takes, and that metrics take of it."""

import tempfile
import time
from pathlib import Path
from statistics import median

from gateway.core.telemetry.observation import Observation, Outcome, Step
from gateway.metrics.calls import CallCounts
from gateway.metrics.instruments import CallInstruments
from gateway.metrics.numbers import Number
from gateway.metrics.prometheus_internals import write_to

CALLS = 20_000
TOGETHER = 100
"""How many calls are written together: what one process ends in a fifth of a second under load."""
ROUNDS = 7


def main() -> None:
    """Print the medians of several rounds, in microseconds for each call."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_to(folder, Number(folder))
        counts = CallCounts(CallInstruments())
        observing = [_measure_observing() for _ in range(ROUNDS)]
        calls = [_call() for _ in range(CALLS)]
        noting, writing = zip(*(_measure(counts, calls) for _ in range(ROUNDS)), strict=True)
    print(f"observing {median(observing):.1f} µs, with metrics or without")  # noqa: T201
    print(f"noting {median(noting):.1f} µs, writing {median(writing):.1f} µs for each of {TOGETHER} calls")  # noqa: T201


def _measure_observing() -> float:
    began = time.process_time()
    for _ in range(CALLS):
        _call()
    return (time.process_time() - began) / CALLS * 1e6


def _measure(counts: CallCounts, calls: list[Observation]) -> tuple[float, float]:
    noting = writing = 0.0
    for at in range(0, CALLS, TOGETHER):
        began = time.process_time()
        for call in calls[at : at + TOGETHER]:
            counts.note(call)
        noted = time.process_time()
        counts.write()
        noting, writing = noting + noted - began, writing + time.process_time() - noted
    return noting / CALLS * 1e6, writing / CALLS * 1e6


def _call() -> Observation:
    call = Observation("chat.completions", "req_1")
    call.model, call.product, call.outcome, call.charge_microusd = "fast", "studio", Outcome.SETTLED, 123
    for step in (Step.AUTHENTICATED, Step.RECEIVED, Step.CHECKED, Step.HELD):
        call.mark(step)
    call.begin_attempt("1", "primary")
    call.begin_answer(200)
    call.end_attempt()
    for step in (Step.UPSTREAM_DONE, Step.SETTLED, Step.ANSWERED):
        call.mark(step)
    call.ended_ns = time.perf_counter_ns()
    return call


if __name__ == "__main__":
    main()
