"""The table of the two ledgers, with a row for every lane, also for those that keep no ledger."""

from collections.abc import Sequence

from bench.books import Books
from bench.measure import Results
from bench.tables import table

SUMMED = {
    "Calls": "calls",
    "Settled": "settled",
    "Charged micro-USD": "charged_microusd",
    "Upstream's ledger x price": "served_microusd",
    "Overspend": "overspend_microusd",
    "Drift": "drift_microusd",
    "Unmatched": "unmatched",
    "Open": "still_open",
}
NOT_OFFERED = "not offered"
NOT_COMPARED = "not compared"


def books_table(results: Results, revision: str | None) -> str:
    """Return the table. `revision` is the commit that this version was compared with, if there is one; its books are not read."""
    rows = [[lane, *_row(results, lane, revision)] for lane in results.lanes()]
    return table(["Lane", *SUMMED], rows)


def _row(results: Results, lane: str, revision: str | None) -> list[str]:
    if of_lane := results.books.get(lane):
        return _sums(of_lane)
    why = NOT_COMPARED if revision and lane.endswith(f"({revision})") else NOT_OFFERED
    cells = dict.fromkeys(SUMMED, "-")
    return list((cells | {"Calls": f"{_answered(results, lane):,}", "Overspend": why, "Drift": why}).values())


def _sums(of_lane: Sequence[Books]) -> list[str]:
    return [f"{sum(getattr(each, name) for each in of_lane):,}" for name in SUMMED.values()]


def _answered(results: Results, lane: str) -> int:
    return sum(len(run.seconds) for (name, _), of in results.figures.items() if name == lane for run in of.runs)
