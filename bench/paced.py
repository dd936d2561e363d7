"""Compares how late the deltas of many open streams arrive: from the upstream itself, through the pass-through and the gateway."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import uvloop

from bench.books import Books, compare
from bench.config import PACE_SECONDS, PACED, PACED_DELTAS, PACED_MODEL
from bench.figures import median, percentile
from bench.gateway_lanes import GatewayLane
from bench.lanes import CHAT_PATH, DIRECT, MANY_WALLETS, ONE_WALLET, PASS_THROUGH, KeyLane, Lane, Question
from bench.paced_load import PacedRun, play
from bench.processes import DATABASE, SERVER, UPSTREAM, resident_bytes
from bench.ratios import rounds_ratio
from bench.servers import UPSTREAM_KEY, PacedUpstreamServer, PassThroughServer
from bench.tables import number, table

OUTPUT_LIMIT_TOKENS = 96
WARM_UP_STREAMS = 16
SAMPLE_AFTER_SECONDS = PACE_SECONDS * (PACED_DELTAS - 2)
KIBIBYTE = 1024
LATENESS_MAX_MILLISECONDS = 5
TIMES_PASS_THROUGH_MAX = 2
CPU_ROLES = (SERVER, DATABASE, UPSTREAM)


@dataclass(slots=True)
class PacedFigures:
    """All runs of one lane with one number of streams, one per round."""

    runs: list[PacedRun] = field(default_factory=list)
    bytes_per_stream: list[float] = field(default_factory=list)

    def late(self, percent: float) -> list[float]:
        """Return each round's percentile of the deltas' lateness in milliseconds."""
        return [1000 * percentile(run.lateness, percent) for run in self.runs]

    def cpu_microseconds(self, role: str) -> float | None:
        """Return the median processor time of a role per delta, with the end of the streams; None if there is none."""
        seen = [run.server_cpu[role] for run in self.runs if role in run.server_cpu]
        return 1e6 * median(seen) / (PACED_DELTAS * self.runs[0].streams) if seen else None

    def generator_microseconds(self) -> float:
        """Return the load generator's median processor time per delta."""
        return 1e6 * median(run.cpu_seconds for run in self.runs) / (PACED_DELTAS * self.runs[0].streams)

    def total(self, name: str) -> int:
        """Sum a counter of the runs."""
        return sum(getattr(run, name) for run in self.runs)


@dataclass(slots=True)
class PacedResults:
    """The results of the scenario, by lane and number of streams."""

    figures: dict[tuple[str, int], PacedFigures] = field(default_factory=dict)
    books: dict[str, list[Books]] = field(default_factory=dict)

    def of(self, lane: str, streams: int) -> PacedFigures:
        """Return the figures of one lane, empty before its first run."""
        return self.figures.setdefault((lane, streams), PacedFigures())

    def added(self, lane: str, streams: int, percent: float) -> list[float]:
        """Return by how much more each round's percentile is than the direct lane's, in milliseconds."""
        base = self.of(DIRECT, streams).late(percent)
        return [late - early for late, early in zip(self.of(lane, streams).late(percent), base, strict=False)]

    @property
    def streams(self) -> list[int]:
        """List the numbers of streams."""
        return list(dict.fromkeys(streams for _, streams in self.figures))

    def short(self) -> int:
        """Count the streams through the gateway that lacked a delta or their end."""
        return sum(self.figures[each].total("short") for each in self.figures if each[0] in (ONE_WALLET, MANY_WALLETS))


class PacedMeasurement:
    """Runs every lane with every number of streams, round after round."""

    def __init__(self, lanes: Sequence[Lane], upstream: PacedUpstreamServer, say: Callable[[str], None]) -> None:
        self._lanes = lanes
        self._upstream = upstream
        self._say = say
        self._idle_bytes: dict[str, int] = {}
        self.results = PacedResults()

    def run(self, rounds: int, numbers: Sequence[int]) -> PacedResults:
        """Warm every lane up, then measure them in turn, and in the opposite order in every other round."""
        for lane in self._lanes:
            self._play(lane, WARM_UP_STREAMS)
            self._idle_bytes[lane.name] = resident_bytes(_serving(lane))
        for count in range(rounds):
            for streams in sorted(numbers):
                for lane in self._lanes[:: -1 if count % 2 else 1]:
                    self._measure(lane, streams, f"round {count + 1}/{rounds}")
        return self.results

    def _measure(self, lane: Lane, streams: int, label: str) -> None:
        ledger = lane.ledger if isinstance(lane, GatewayLane) else None
        since = ledger.now() if ledger else None
        self._upstream.reset()
        run = self._play(lane, streams)
        figures = self.results.of(lane.name, streams)
        figures.runs.append(run)
        if lane.server:
            figures.bytes_per_stream.append((run.server_bytes - self._idle_bytes[lane.name]) / streams)
        note = ""
        if ledger and since:
            books = compare(ledger, since, self._upstream.ledger())
            self.results.books.setdefault(lane.name, []).append(books)
            note = f", overspend {books.overspend_microusd}, drift {books.drift_microusd}"
        self._say(f"{label}, {streams} streams, {lane.name}: {_summary(run)}{note}")

    def _play(self, lane: Lane, streams: int) -> PacedRun:
        serving = _serving(lane)
        return uvloop.run(
            play(
                lane.target,
                self._upstream.target,
                lane.render(streams, stream=True),
                cpu=lambda: self._upstream.cpu_seconds() | (lane.server.cpu_seconds() if lane.server else {}),
                server_bytes=lambda: resident_bytes(serving),
                sample_after_seconds=SAMPLE_AFTER_SECONDS,
            )
        )


def measure(
    gateways: Sequence[GatewayLane],
    upstream: PacedUpstreamServer,
    proxy: PassThroughServer,
    say: Callable[[str], None],
    *,
    rounds: int,
    streams: Sequence[int],
) -> PacedResults:
    """Compare the gateway's lanes with the direct one and the pass-through."""
    return PacedMeasurement(_lanes(gateways, upstream, proxy), upstream, say).run(rounds, streams)


def lateness_table(results: PacedResults) -> str:
    """Return the table of every lane's lateness and costs."""
    head = [
        "Open",
        "Lane",
        "Late p50 ms",
        "Late p99 ms",
        "Added p50",
        "Added p99",
        "Longest pause ms",
        "Stalled",
        "Short",
    ]
    head += ["Server CPU µs/delta", "Database CPU", "Upstream CPU", "Generator CPU", "KiB a stream"]
    rows = [[str(streams), lane, *_row(results, lane, streams)] for lane, streams in _ordered(results)]
    return table(head, rows)


def goals_table(results: PacedResults) -> str:
    """Return the lateness that the gateway adds, and how it compares with the pass-through's."""
    gateways = [lane for lane in (ONE_WALLET, MANY_WALLETS) if any(name == lane for name, _ in results.figures)]
    rows = []
    for lane in gateways:
        added = [number(median(results.added(lane, streams, 99))) for streams in results.streams]
        rows.append([f"added p99 ms, {lane}", *added, f"at most {LATENESS_MAX_MILLISECONDS} at 512"])
    for lane in gateways:
        times = [number(_times_pass_through(results, lane, streams)) for streams in results.streams]
        rows.append([f"added p99, {lane} / {PASS_THROUGH}", *times, f"at most {TIMES_PASS_THROUGH_MAX}"])
    return table(["Paced streams", *(f"{streams} open" for streams in results.streams), "Wanted"], rows)


def totals(results: PacedResults) -> Iterator[str]:
    """Yield a sentence about each lane's books."""
    for lane, books in results.books.items():
        yield (
            f"Paced streams, {lane}: {sum(each.settled for each in books):,} calls settled, "
            f"{sum(each.charged_microusd for each in books):,} micro-USD charged, "
            f"{sum(each.served_microusd for each in books):,} by the upstream's ledger; "
            f"overspend {sum(each.overspend_microusd for each in books)}, "
            f"drift {sum(each.drift_microusd for each in books)}, open {sum(each.still_open for each in books)}."
        )


def figures(results: PacedResults) -> list[Mapping[str, Any]]:
    """Return every figure for the report in JSON."""
    return [
        {
            "lane": lane,
            "streams": streams,
            "late_p50_milliseconds": each.late(50),
            "late_p99_milliseconds": each.late(99),
            "added_p50_milliseconds": results.added(lane, streams, 50),
            "added_p99_milliseconds": results.added(lane, streams, 99),
            "opening_seconds": [run.opening_seconds for run in each.runs],
            "stalled": each.total("stalled"),
            "short": each.total("short"),
            "server_bytes": [run.server_bytes for run in each.runs],
            "cpu_microseconds_per_delta": {role: each.cpu_microseconds(role) for role in CPU_ROLES},
            "generator_cpu_microseconds_per_delta": each.generator_microseconds(),
        }
        for (lane, streams), each in results.figures.items()
    ]


def _lanes(gateways: Sequence[GatewayLane], upstream: PacedUpstreamServer, proxy: PassThroughServer) -> list[Lane]:
    question = Question(PACED_MODEL, CHAT_PATH, OUTPUT_LIMIT_TOKENS)
    through = Question(PACED, CHAT_PATH, OUTPUT_LIMIT_TOKENS)
    return [
        KeyLane(DIRECT, upstream.port, question=question, key=UPSTREAM_KEY, server=None),
        KeyLane(PASS_THROUGH, proxy.port, question=question, key=UPSTREAM_KEY, server=proxy),
        *(
            GatewayLane(lane.name, lane.gateway, lane.product, lane.customers, lane.ledger, through)
            for lane in gateways
        ),
    ]


def _serving(lane: Lane) -> list[Any]:
    return lane.server.serving() if lane.server else []


def _ordered(results: PacedResults) -> Iterator[tuple[str, int]]:
    lanes = list(dict.fromkeys(lane for lane, _ in results.figures))
    for streams in results.streams:
        yield from ((lane, streams) for lane in lanes if (lane, streams) in results.figures)


def _row(results: PacedResults, lane: str, streams: int) -> list[str]:
    each = results.of(lane, streams)
    held = each.bytes_per_stream
    return [
        *(number(median(each.late(percent))) for percent in (50, 99)),
        *(number(median(results.added(lane, streams, percent))) for percent in (50, 99)),
        f"{1000 * max(run.longest_pause for run in each.runs):.0f}",
        str(each.total("stalled")),
        str(each.total("short")),
        *(number(each.cpu_microseconds(role)) for role in CPU_ROLES),
        number(each.generator_microseconds()),
        f"{max(held) / KIBIBYTE:.0f}" if held else "-",
    ]


def _times_pass_through(results: PacedResults, lane: str, streams: int) -> float:
    return rounds_ratio(results.added(lane, streams, 99), results.added(PASS_THROUGH, streams, 99))


def _summary(run: PacedRun) -> str:
    lost = f", {run.short} SHORT: {run.examples}" if run.short else ""
    return (
        f"late p50 {1000 * percentile(run.lateness, 50):.2f} ms, p99 {1000 * percentile(run.lateness, 99):.2f} ms, "
        f"longest pause {1000 * run.longest_pause:.0f} ms, opened in {run.opening_seconds:.1f} s, {run.stalled} stalled{lost}"
    )
