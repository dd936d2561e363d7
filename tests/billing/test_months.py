"""UTC calendar months by name, and the months on offer."""

from datetime import UTC, datetime, timedelta

import pytest

from billing.rules.months import month_around, months_since, name_of, read_month

TICK = timedelta(microseconds=1)


@pytest.mark.parametrize(("name", "days"), [("2024-02", 29), ("2025-02", 28), ("2026-12", 31), ("0001-01", 31)])
def test_a_name_is_read_and_given_back(name: str, days: int) -> None:
    month = read_month(name)
    assert (month[1] - month[0]).days == days
    assert (name_of(month), month[0].tzinfo) == (name, UTC)


@pytest.mark.parametrize(
    "name",
    [
        "",
        "2026",
        "2026-13",
        "2026-00",
        "2026-1",
        "26-01",
        " 2026-01",
        "2026-01\n",
        "2026-01-01",
        "9999-12",
        "0000-05",
        "２０２６-０１",  # noqa: RUF001
        "-2026-01",
        "2026_01",
        "2026-01' OR 1=1 --",
        "current",
    ],
)
def test_what_names_no_month_is_refused(name: str) -> None:
    with pytest.raises(ValueError):
        read_month(name)


def test_months_since_are_those_from_the_first_to_the_current_one() -> None:
    now = datetime(2026, 3, 1, tzinfo=UTC)
    january = datetime(2026, 1, 1, tzinfo=UTC)
    for first, names in (
        (now, ["2026-03"]),
        (now + TICK, ["2026-03"]),
        (now - TICK, ["2026-03", "2026-02"]),
        (january, ["2026-03", "2026-02", "2026-01"]),
        (january - TICK, ["2026-03", "2026-02", "2026-01", "2025-12"]),
    ):
        assert [name_of(month) for month in months_since(first, now, 10)] == names


def test_months_since_are_bounded() -> None:
    now = datetime(2026, 3, 15, tzinfo=UTC)
    months = months_since(datetime(2000, 1, 1, tzinfo=UTC), now, 14)
    assert len(months) == 14
    assert months[0] == month_around(now)
    assert name_of(months[-1]) == "2025-02"
