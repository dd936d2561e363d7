"""Every lane has its row in the table of the ledgers, also one without a ledger."""

from bench.books import Books
from bench.books_table import books_table
from bench.lanes import LITELLM, ONE_WALLET, of_revision
from bench.load import Run
from bench.measure import Results, Shape

BOOKS = Books(
    calls=1500,
    settled=1499,
    released=1,
    in_review=0,
    still_open=0,
    charged_microusd=2,
    served_microusd=3,
    overspend_microusd=4,
    drift_microusd=5,
    unmatched=6,
)


def cells(table: str, lane: str) -> list[str]:
    [line] = [line for line in table.splitlines() if line.startswith(f"| {lane} ")]
    return [cell.strip() for cell in line.strip("|").split("|")][1:]


def test_a_lane_without_a_ledger_says_so() -> None:
    results = Results()
    for lane in (LITELLM, ONE_WALLET, of_revision(ONE_WALLET, "abc1234")):
        for concurrency in (1, 16):
            figures = results.of(lane, Shape(stream=False, concurrency=concurrency))
            figures.runs += [Run(concurrency, 1.0, seconds=[0.1] * 600), Run(concurrency, 1.0, seconds=[0.1])]
    results.books[ONE_WALLET] = [BOOKS, BOOKS]
    table = books_table(results, "abc1234")
    assert cells(table, f"{ONE_WALLET}  ") == ["3,000", "2,998", "4", "6", "8", "10", "12", "0"]
    assert cells(table, LITELLM) == ["1,202", "-", "-", "-", "not offered", "not offered", "-", "-"]
    assert cells(table, f"{ONE_WALLET} (abc1234)") == ["1,202", "-", "-", "-", "not compared", "not compared", "-", "-"]
