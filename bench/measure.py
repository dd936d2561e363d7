"""Runs the lanes in turn, round after round, and collects their results."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import uvloop

from bench.books import Books, compare
from bench.figures import median
from bench.gateway_lanes import GatewayLane
from bench.lanes import Lane
from bench.load import Run, closed_loop
from bench.servers import UpstreamServer

REQUESTS_PER_SECOND_MAX = {1: 1_000, 16: 4_000, 64: 4_000}
"""The number of requests signed per second of a lane, by concurrency: more than any gateway can handle."""
UNSIGNED_PER_SECOND = 20_000


class Shape(NamedTuple):
    """The kind of request and its concurrency."""

    stream: bool
    concurrency: int

    @property
    def kind(self) -> str:
        """Return the kind of request, in a word."""
        return "stream" if self.stream else "JSON"

    def __str__(self) -> str:
        return f"{self.kind} {self.concurrency}"


@dataclass(frozen=True, slots=True)
class Plan:
    """The duration and number of rounds."""

    rounds: int
    seconds: float
    warm_up_seconds: float
    shapes: Sequence[Shape]


@dataclass(slots=True)
class Figures:
    """All runs of one lane in one shape, one per round."""

    runs: list[Run] = field(default_factory=list)
    cpu_milliseconds: dict[str, list[float]] = field(default_factory=dict)
    """Processor time per request, by role, one value per round: the figure that a busy machine affects least."""

    def note_cpu(self, before: Mapping[str, float], after: Mapping[str, float], requests: int) -> None:
        """Record the processor time of each of the server's roles for a run."""
        for role, seconds in after.items():
            taken = 1000 * (seconds - before.get(role, 0.0)) / max(1, requests)
            self.cpu_milliseconds.setdefault(role, []).append(taken)

    def cpu(self, *roles: str) -> float | None:
        """Return the median processor time per request of some roles in milliseconds; None if none was measured."""
        seen = [median(self.cpu_milliseconds[role]) for role in roles if role in self.cpu_milliseconds]
        return sum(seen) if seen else None

    def rates(self) -> list[float]:
        """Return each round's requests per second."""
        return [run.requests_per_second for run in self.runs]

    def rate(self) -> float:
        """Return the median of the rounds' requests per second."""
        return median(self.rates())

    def latencies(self, percent: float) -> list[float]:
        """Return each round's latency percentile in seconds."""
        return [run.latency(percent) for run in self.runs]

    def milliseconds(self, percent: float) -> float:
        """Return the median of the rounds' latency percentile."""
        return 1000 * median(self.latencies(percent))

    def generator_cpu_milliseconds(self) -> float:
        """Return the load generator's median processor time per request."""
        return 1000 * median(run.cpu_seconds / max(1, len(run.seconds)) for run in self.runs)

    def first_byte_milliseconds(self, percent: float) -> float:
        """Return the median of the rounds' first byte percentile."""
        return 1000 * median(run.first_byte(percent) for run in self.runs)

    @property
    def failed(self) -> int:
        """Count the requests without a 200 response."""
        return sum(run.failed for run in self.runs)


@dataclass(slots=True)
class Results:
    """The results of a whole run."""

    figures: dict[tuple[str, Shape], Figures] = field(default_factory=dict)
    books: dict[str, list[Books]] = field(default_factory=dict)
    mebibytes: dict[str, float] = field(default_factory=dict)

    def of(self, lane: str, shape: Shape) -> Figures:
        """Return the figures of one lane in one shape, empty before its first run."""
        return self.figures.setdefault((lane, shape), Figures())

    def ran(self, lane: str, shape: Shape) -> bool:
        """Return whether one lane was measured in one shape."""
        return (lane, shape) in self.figures

    def shapes(self) -> list[Shape]:
        """List the shapes in the order of their runs."""
        return list(dict.fromkeys(shape for _, shape in self.figures))

    def lanes(self) -> list[str]:
        """List the lanes in the order of their runs."""
        return list(dict.fromkeys(lane for lane, _ in self.figures))

    def note_memory(self, lane: Lane) -> None:
        """Record the peak memory of the lane's server."""
        if lane.server is not None:
            seen = lane.server.server_mebibytes()
            self.mebibytes[lane.name] = max(seen, self.mebibytes.get(lane.name, 0.0))


class Measurement:
    """Runs a plan over lanes, and compares the books after every lane of the gateway."""

    def __init__(
        self,
        plan: Plan,
        lanes: Sequence[Lane],
        upstream: UpstreamServer,
        say: Callable[[str], None],
    ) -> None:
        self._plan = plan
        self._lanes = lanes
        self._upstream = upstream
        self._say = say
        self.results = Results()

    def warm_up(self) -> None:
        """Warm up every server: open connections and fill caches before measuring."""
        for lane in self._lanes:
            self._say(f"warming up {lane.name}")
            for stream in (False, True):
                shape, seconds = Shape(stream, 16), self._plan.warm_up_seconds
                run = self._send(lane, shape, self._requests(lane, shape, seconds), seconds)
                if not run.seconds:
                    raise RuntimeError(f"{lane.name} answers no request: {run.failures}")

    def run(self) -> Results:
        """Run every round: each shape through each lane in turn."""
        for number in range(1, self._plan.rounds + 1):
            # Every other round in reverse order, so that no lane always follows the same one.
            lanes = self._lanes if number % 2 else self._lanes[::-1]
            for shape in self._plan.shapes:
                for lane in lanes:
                    if lane.takes(stream=shape.stream, concurrency=shape.concurrency):
                        self._measure(lane, shape, f"round {number}/{self._plan.rounds}")
        return self.results

    def _measure(self, lane: Lane, shape: Shape, label: str) -> None:
        self._upstream.reset()
        ledger = lane.ledger if isinstance(lane, GatewayLane) else None
        since = ledger.now() if ledger else None
        requests = self._requests(lane, shape, self._plan.seconds)  # some lanes get tokens from the server for them
        with lane.conditions():
            before = self._cpu_seconds(lane)
            run = self._send(lane, shape, requests, self._plan.seconds)
            after = self._cpu_seconds(lane)
        figures = self.results.of(lane.name, shape)
        figures.runs.append(run)
        figures.note_cpu(before, after, len(run.seconds))
        self.results.note_memory(lane)
        note = ""
        if ledger and since:
            books = compare(ledger, since, self._upstream.ledger())
            self.results.books.setdefault(lane.name, []).append(books)
            note = f", overspend {books.overspend_microusd}, drift {books.drift_microusd}"
        self._say(f"{label}, {shape}, {lane.name}: {_summary(run)}{note}")

    def _cpu_seconds(self, lane: Lane) -> dict[str, float]:
        """Measure the processor time of the upstream and, if there is one, of the lane's server."""
        return self._upstream.cpu_seconds() | (lane.server.cpu_seconds() if lane.server else {})

    def _requests(self, lane: Lane, shape: Shape, seconds: float) -> Sequence[bytes]:
        per_second = UNSIGNED_PER_SECOND
        if isinstance(lane, GatewayLane):
            per_second = REQUESTS_PER_SECOND_MAX.get(shape.concurrency, max(REQUESTS_PER_SECOND_MAX.values()))
        per_second = lane.requests_per_second_max or per_second
        return lane.render(int(per_second * seconds), stream=shape.stream)

    def _send(self, lane: Lane, shape: Shape, requests: Sequence[bytes], seconds: float) -> Run:
        return uvloop.run(closed_loop(lane.target, requests, concurrency=shape.concurrency, seconds=seconds))


def shapes(concurrencies: Iterable[int], stream_concurrencies: Iterable[int]) -> list[Shape]:
    """List the shapes: JSON requests at every concurrency, then streams at theirs."""
    whole = [Shape(stream=False, concurrency=each) for each in concurrencies]
    return whole + [Shape(stream=True, concurrency=each) for each in stream_concurrencies]


def _summary(run: Run) -> str:
    failed = f", {run.failed} FAILED: {run.failures}" if run.failed else ""
    return (
        f"{run.requests_per_second:.0f}/s, p50 {run.latency(50) * 1000:.2f} ms, "
        f"p99 {run.latency(99) * 1000:.2f} ms, first byte {run.first_byte(50) * 1000:.2f} ms{failed}"
    )
