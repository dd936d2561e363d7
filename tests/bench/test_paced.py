"""Streams that are open together deliver every delta with its time, and what they lack is counted."""

from collections.abc import Iterator, Sequence

import pytest
import requests
import uvloop
from aiohttp import web
from aiohttp.test_utils import TestServer

from bench.books import served_work
from bench.config import PACED_DELTAS, PACED_MODEL
from bench.lanes import DIRECT, ONE_WALLET, PASS_THROUGH, body, render_request
from bench.load import Target
from bench.measure import Results
from bench.paced import PacedFigures, PacedResults, goals_table, lateness_table
from bench.paced_load import STALL_SECONDS, PacedRun, play, read
from bench.paced_upstream import END, PacedUpstream
from bench.passthrough import PassThrough
from bench.report import Report
from tests.support.server_thread import HOST, ServerThread

STREAMS = 30
HEAD = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
MILLISECOND = 1_000_000


class PacedThread(ServerThread):
    """The upstream in a thread."""

    def application(self) -> web.Application:
        return PacedUpstream().application()

    @property
    def target(self) -> Target:
        return Target(HOST, self.port)


@pytest.fixture
def paced() -> Iterator[PacedThread]:
    with PacedThread() as running:
        yield running


def asked(count: int) -> list[bytes]:
    content = body(PACED_MODEL, stream=True, output_limit_tokens=96)
    return [render_request(content, {"Idempotency-Key": f"k-{index}"}) for index in range(count)]


def test_every_delta_of_every_stream_arrives_with_its_time(paced: PacedThread) -> None:
    run = uvloop.run(play(paced.target, paced.target, asked(STREAMS), server_bytes=lambda: 7))
    assert (run.short, run.examples, len(run.lateness)) == (0, [], STREAMS * PACED_DELTAS)
    assert run.lateness == sorted(run.lateness)
    assert run.lateness[0] > 0
    assert run.longest_pause > 0
    assert run.server_bytes == 7
    entries = requests.get(f"{paced.origin}/_ledger", timeout=60).json()["data"]
    work = served_work(entries)
    assert sorted(work) == sorted(f"k-{index}" for index in range(STREAMS))
    assert {each.completion_tokens for each in work.values()} == {PACED_DELTAS}
    assert {entry["outcome"] for entry in entries} == {"complete"}


async def test_a_proxy_passes_paced_streams_on(paced: PacedThread) -> None:
    async with TestServer(PassThrough(paced.origin).application()) as proxy:
        run = await play(Target(HOST, int(proxy.port or 0)), paced.target, asked(3))
    assert (run.short, run.examples, len(run.lateness)) == (0, [], 3 * PACED_DELTAS)


async def test_a_refused_stream_is_short(paced: PacedThread) -> None:
    refused = render_request(b"{}", {}, "/v1/nothing")
    run = await play(paced.target, paced.target, [*asked(1), refused])
    assert (run.short, len(run.lateness)) == (1, PACED_DELTAS)
    assert "404" in run.examples[0]


def pieces(arrivals: Sequence[int], *, ending: bytes = END) -> list[tuple[int, bytes]]:
    """Return a stream whose deltas were written every 20 ms and arrived at these milliseconds."""
    found = [(0, HEAD)]
    for index, arrival in enumerate(arrivals):
        event = b'data: {"content":"%016d"}\n\n' % (index * 20 * MILLISECOND)
        found.append((arrival * MILLISECOND, b"%x\r\n%b\r\n" % (len(event), event)))
    last = found[-1][0]
    return [*found, (last, b"%x\r\n%b\r\n0\r\n\r\n" % (len(ending), ending))] if ending else found


ON_TIME = [index * 20 + 3 for index in range(PACED_DELTAS)]


def test_a_whole_stream_is_read() -> None:
    received, _ = read(pieces(ON_TIME))
    assert received.is_whole
    assert received.lateness == [0.003] * PACED_DELTAS
    assert received.longest_pause == 0.02


def test_a_delta_in_two_pieces_arrives_with_the_second() -> None:
    [head, (at, first), *rest] = pieces(ON_TIME)
    received, _ = read([head, (at, first[:20]), (at + MILLISECOND, first[20:]), *rest])
    assert received.is_whole
    assert received.lateness == [0.004] + [0.003] * (PACED_DELTAS - 1)


@pytest.mark.parametrize(
    "received",
    [
        [],
        pieces(ON_TIME[:-1]),
        pieces([*ON_TIME, 64 * 20]),
        pieces(ON_TIME, ending=b""),
        pieces(ON_TIME, ending=b": nothing\n\n"),
        [(0, HEAD.replace(b"200", b"503")), *pieces(ON_TIME)[1:]],
    ],
)
def test_a_stream_that_lacks_something_or_has_too_much_is_short(received: list[tuple[int, bytes]]) -> None:
    run = PacedRun(1)
    run.add(*read(received))
    assert (run.short, run.stalled) == (1, 0)


def test_a_long_pause_is_a_stall() -> None:
    run = PacedRun(1)
    late = [arrival + (2 * round(STALL_SECONDS * 1000) if index > 9 else 0) for index, arrival in enumerate(ON_TIME)]
    run.add(*read(pieces(late)))
    assert (run.short, run.stalled) == (0, 1)
    assert run.longest_pause == pytest.approx(0.02 + 2 * STALL_SECONDS)


def results() -> PacedResults:
    """Return two rounds in which the lanes are late by 1, 2 and 5 ms, and then by twice that."""
    measured = PacedResults()
    for lane, seconds in ((DIRECT, 0.001), (PASS_THROUGH, 0.002), (ONE_WALLET, 0.005)):
        runs = [PacedRun(512, lateness=[seconds * factor] * 9) for factor in (1, 2)]
        measured.figures[lane, 512] = PacedFigures(runs, [] if lane == DIRECT else [20 * 1024.0, 10 * 1024.0])
    return measured


def cells(table: str, row: str) -> list[str]:
    [line] = [line for line in table.splitlines() if f"| {row} " in line]
    return [cell.strip() for cell in line.partition(f"| {row} ")[2].split("|")[1:-1]]


def test_lateness_is_compared_with_the_direct_lane_of_the_same_round() -> None:
    assert cells(goals_table(results()), f"added p99 ms, {ONE_WALLET}") == ["6.00", "at most 5 at 512"]
    assert cells(goals_table(results()), f"added p99, {ONE_WALLET} / {PASS_THROUGH}") == ["4.00", "at most 2"]
    assert cells(lateness_table(results()), ONE_WALLET) == (
        ["7.50", "7.50", "6.00", "6.00", "0", "0", "0", "-", "-", "-", "0.00", "20"]
    )


def test_a_short_stream_of_the_gateway_fails_the_run() -> None:
    report = Report("a machine", "quietly.", Results(), paced=results())
    assert report.is_exact()
    assert "| 512  | pass-through" in report.markdown()
    report.paced.of(PASS_THROUGH, 512).runs[0].short = 1
    assert report.is_exact()
    report.paced.of(ONE_WALLET, 512).runs[0].short = 1
    assert not report.is_exact()
