"""Compares lanes of one run with each other: the median, over rounds, of one lane's value divided by another's."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence

from bench.figures import median, middle
from bench.lanes import (
    DIRECT,
    DIRECT_MESSAGES,
    LITELLM,
    LITELLM_MESSAGES,
    LITELLM_RUST,
    MANY_WALLETS,
    MANY_WALLETS_MESSAGES,
    MESSAGES_LANES,
    ONE_WALLET,
    ONE_WALLET_MESSAGES,
    PORTKEY,
    SHARED_LIMITS,
    THREE_LIMITS,
    WITH_METRICS,
    of_revision,
)
from bench.measure import Figures, Results, Shape
from bench.processes import DATABASE, SERVER
from bench.tables import number, table

Measure = Callable[[Figures], Sequence[float]]


def server_cpu(figures: Figures) -> Sequence[float]:
    """Return each round's processor time of the server per request."""
    return figures.cpu_milliseconds.get(SERVER, [])


MEASURES: Mapping[str, Measure] = {
    "Requests/s": Figures.rates,
    "p50": lambda figures: figures.latencies(50),
    "p99": lambda figures: figures.latencies(99),
    "Server CPU": server_cpu,
    "Database CPU": lambda figures: figures.cpu_milliseconds.get(DATABASE, []),
}
"""The measures for comparing two versions. Each returns one value per round, in order."""


def rounds_ratio(values: Sequence[float], bases: Sequence[float]) -> float:
    """Return the median of the rounds' ratios; NaN if no round has both values."""
    return median(_ratios(values, bases))


def ratio(results: Results, lane: str, base: str, shape: Shape, measure: Measure) -> float | None:
    """Return one lane's measure divided by another's; None if one of them did not run."""
    if not (results.ran(lane, shape) and results.ran(base, shape)):
        return None
    return rounds_ratio(measure(results.of(lane, shape)), measure(results.of(base, shape)))


def rates_table(results: Results, slow_disk: str | None) -> str:
    """Return the main table of a run: rates divided by each other, and the latency that the gateway adds.

    Empty if the run has no two lanes to compare. `slow_disk` is the name of the lane on the slow disk.
    """
    shapes = results.shapes()
    rows = [
        (f"{lane} / {base}", [ratio(results, lane, base, shape, Figures.rates) for shape in shapes])
        for lane, base in _pairs(slow_disk)
    ]
    rows += [(f"{lane}, added p50 ms", [added(results, lane, shape) for shape in shapes]) for lane in _gateways()]
    known = [[name, *map(number, values)] for name, values in rows if any(value is not None for value in values)]
    return table(["Requests/s, divided", *map(str, shapes)], known) if known else ""


def revision_table(results: Results, revision: str) -> str:
    """Return the table of this version's figures divided by another's, for every shape."""
    rows = []
    for shape in results.shapes():
        for lane in _gateways():
            other = of_revision(lane, revision)
            if results.ran(lane, shape) and results.ran(other, shape):
                compared = compare_figures(results.of(lane, shape), results.of(other, shape))
                rows.append([str(shape), lane, *map(number, compared.values())])
    return table(["Asked", f"Lane, divided by {revision}", *MEASURES], rows) if rows else ""


def metrics_table(results: Results) -> str:
    """Return the table of the server's processor time per request with metrics, divided by that without; empty if not both ran."""
    rows = []
    for shape in results.shapes():
        if results.ran(WITH_METRICS, shape) and results.ran(ONE_WALLET, shape):
            figures = [server_cpu(results.of(lane, shape)) for lane in (WITH_METRICS, ONE_WALLET)]
            least, most = middle(_ratios(*figures))
            rows.append(
                [str(shape), f"{rounds_ratio(*figures):.4f}", f"{least:.4f} to {most:.4f}", str(len(figures[0]))]
            )
    return table(["Asked", "Server CPU, metrics / none", "95 % of medians", "Rounds"], rows) if rows else ""


def compare_figures(figures: Figures, bases: Figures) -> dict[str, float]:
    """Return the ratio of two lanes by every measure."""
    return {name: rounds_ratio(measure(figures), measure(bases)) for name, measure in MEASURES.items()}


def added(results: Results, lane: str, shape: Shape, percent: float = 50) -> float | None:
    """Return the milliseconds that a lane adds to the direct one of its route; None if one of them did not run."""
    direct = DIRECT_MESSAGES if lane in MESSAGES_LANES else DIRECT
    if not (results.ran(lane, shape) and results.ran(direct, shape)):
        return None
    return results.of(lane, shape).milliseconds(percent) - results.of(direct, shape).milliseconds(percent)


def _ratios(values: Sequence[float], bases: Sequence[float]) -> list[float]:
    ratios = (value / base for value, base in zip(values, bases, strict=False) if base)
    return [ratio for ratio in ratios if math.isfinite(ratio)]


def _pairs(slow_disk: str | None) -> Iterator[tuple[str, str]]:
    """Yield each lane with the lane that its rate is divided by."""
    yield ONE_WALLET, MANY_WALLETS
    yield THREE_LIMITS, ONE_WALLET
    yield SHARED_LIMITS, MANY_WALLETS
    if slow_disk:
        yield slow_disk, ONE_WALLET
    for peer in (LITELLM, PORTKEY):
        for lane in _gateways():
            yield lane, peer
    yield LITELLM_RUST, LITELLM_MESSAGES
    for peer in (LITELLM_MESSAGES, LITELLM_RUST):
        for lane in (ONE_WALLET_MESSAGES, MANY_WALLETS_MESSAGES):
            yield lane, peer


def _gateways() -> tuple[str, str]:
    return ONE_WALLET, MANY_WALLETS
