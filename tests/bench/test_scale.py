"""The measurement of a full database beside an empty one runs, tiny, and its tables say what they claim."""

from pathlib import Path

import pytest

from bench.scale import EMPTY, EMPTY_ACCOUNTS, FULL, read_options, run
from bench.scale_calls import spreads
from bench.scale_report import report
from tests.support.concurrency import PATIENCE_SECONDS
from tests.support.database import make_home
from tests.support.migrated import copy_cluster

CALLS, ACCOUNTS = 2_000, 1_200
TINY = "--calls 2000 --accounts 1200 --rounds 1 --seconds 0.3 --concurrency 2 --wallets 1,3 --page-rounds 0"


def cells(text: str, first: str) -> list[list[str]]:
    """Return the rows of a table that begin with a cell."""
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines() if line.startswith("|")]
    return [row for row in rows if row[0] == first]


def test_customers_are_spread_evenly_and_each_is_one_object() -> None:
    made = spreads(1_000_000, (1, 4))
    assert [each.name for each in made[4]] == ["1", "250001", "500001", "750001"]
    assert made[1][0] is made[4][0]


def test_fewer_accounts_than_the_empty_database_has_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        read_options(["--accounts", "10"])
    assert f"--accounts must be at least {EMPTY_ACCOUNTS}" in capsys.readouterr().err


def test_a_tiny_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bench.processes.START_SECONDS", PATIENCE_SECONDS)
    homes = {EMPTY: make_home(), FULL: make_home()}
    for home in homes.values():
        copy_cluster(home)
    measured = run(homes, tmp_path, read_options(TINY.split()))
    # Of the empty database and the full one: the calls that reports need, which are open, are not among `--calls`.
    assert {name: accounts for name, (_, accounts) in measured.rows.items()} == {EMPTY: EMPTY_ACCOUNTS, FULL: ACCOUNTS}
    assert measured.rows[FULL][0] - measured.rows[EMPTY][0] == CALLS
    for name, growth in measured.growth.items():
        figures = [
            measured.results.of(lane, shape) for lane, shape in measured.results.figures if lane.startswith(name)
        ]
        assert len(figures) == 2
        assert [each.failed for each in figures] == [0, 0]
        assert growth.calls >= sum(len(each.runs[0].seconds) for each in figures) > 0
        assert growth.counts["billing_reservation"].updated >= growth.calls - 2
    text = report(measured)
    assert len(cells(text, "2")) == 4
    [purged] = cells(text, "billing.tasks.purge_replays")
    assert [purged[3], purged[6]] == [str(measured.growth[name].calls) for name in (EMPTY, FULL)]
    assert cells(text, "billing.tasks.audit_whole_ledger")
    assert cells(text, "billing_reservation: reservation_one_per_key")
