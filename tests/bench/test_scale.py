"""The customers and the options of the measurement of a full database beside an empty one."""

import pytest

from bench.scale import EMPTY_ACCOUNTS, read_options
from bench.scale_calls import spreads


def test_customers_are_spread_evenly_and_each_is_one_object() -> None:
    made = spreads(1_000_000, (1, 4))
    assert [each.name for each in made[4]] == ["1", "250001", "500001", "750001"]
    assert made[1][0] is made[4][0]


def test_fewer_accounts_than_the_empty_database_has_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        read_options(["--accounts", "10"])
    assert f"--accounts must be at least {EMPTY_ACCOUNTS}" in capsys.readouterr().err
