"""What a governed call may cost beside the pass-through of the same run, and how it stands beside peers."""

from collections.abc import Sequence

from bench.lanes import LITELLM, MANY_WALLETS, ONE_WALLET, PASS_THROUGH, PORTKEY
from bench.measure import Figures, Results, Shape
from bench.processes import DATABASE, SERVER
from bench.ratios import added, ratio, rounds_ratio, server_cpu
from bench.tables import number, table

ALONE, AT_ONCE = Shape(stream=False, concurrency=1), Shape(stream=False, concurrency=16)


def goals_table(results: Results) -> str:
    """Return the goals whose lanes ran, each with what was measured; empty if there is none."""
    rows = [
        *(
            (f"server and database CPU, {lane} / server CPU, {PASS_THROUGH}", shape, _cost(results, lane, shape), most)
            for lane, shape, most in (
                (ONE_WALLET, ALONE, "at most 5.5"),
                (ONE_WALLET, AT_ONCE, "at most 4.0"),
                (MANY_WALLETS, AT_ONCE, "at most 4.8"),
            )
        ),
        (f"added p50, {ONE_WALLET} / {PASS_THROUGH}", ALONE, _added(results), "at most 4"),
        (f"p99 / p50, {ONE_WALLET}", AT_ONCE, _spread(results), "at most 2"),
        *(
            (f"requests/s, {lane} / {peer}", AT_ONCE, ratio(results, lane, peer, AT_ONCE, Figures.rates), least)
            for peer, least in ((LITELLM, "at least 14"), (PORTKEY, "at least 1.5"))
            for lane in (ONE_WALLET, MANY_WALLETS)
        ),
    ]
    known = [[name, str(shape), number(value), limit] for name, shape, value, limit in rows if value is not None]
    return table(["Divided", "Asked", "Measured", "Wanted"], known) if known else ""


def _cost(results: Results, lane: str, shape: Shape) -> float | None:
    """Return the processor time of a lane's server and database per request, divided by that of the pass-through's server."""
    if not (results.ran(lane, shape) and results.ran(PASS_THROUGH, shape)):
        return None
    return rounds_ratio(_both(results.of(lane, shape)), server_cpu(results.of(PASS_THROUGH, shape)))


def _both(figures: Figures) -> Sequence[float]:
    """Return each round's processor time of server and database per request."""
    database = figures.cpu_milliseconds.get(DATABASE, [])
    return [sum(each) for each in zip(figures.cpu_milliseconds.get(SERVER, []), database, strict=True)]


def _added(results: Results) -> float | None:
    """Return the p50 that one call at a time adds, divided by what the pass-through adds."""
    ours, bare = (added(results, lane, ALONE) for lane in (ONE_WALLET, PASS_THROUGH))
    return ours / bare if ours is not None and bare else None


def _spread(results: Results) -> float | None:
    """Return the p99 divided by the p50."""
    if not results.ran(ONE_WALLET, AT_ONCE):
        return None
    figures = results.of(ONE_WALLET, AT_ONCE)
    return rounds_ratio(figures.latencies(99), figures.latencies(50))
