"""A leak is found through noise, and noise is not taken for a leak."""

import random
from collections.abc import Callable

import pytest

from tests.soak.growth import DAY_SECONDS, lost_processes, of_level_tables, of_processes, of_tables, warmed_up
from tests.soak.samples import Held, Sample, Size
from tests.soak.slopes import theil_sen

MEBIBYTE = 1024 * 1024
MINUTES = range(60)


def samples(
    memory: Callable[[int], float] = lambda minute: 130 * MEBIBYTE,
    descriptors: Callable[[int], int] = lambda minute: 60,
    proofs: Callable[[int], int] = lambda minute: 5_000,
    events: Callable[[int], int] = lambda minute: 200 * minute,
) -> list[Sample]:
    return [
        Sample(
            60.0 * minute,
            {"server": Held(int(memory(minute)), descriptors(minute), 12)},
            {
                "billing_reservation": Size(1_000 * minute, 1_500_000 * minute),
                "accounts_proof_replay": Size(proofs(minute), 10**6),
                "events_event": Size(events(minute), 100 * events(minute)),
            },
        )
        for minute in MINUTES
    ]


def growing(made: list[Sample]) -> list[str]:
    warm = warmed_up(made)
    series = [*of_processes(warm), *of_level_tables(warm)]
    return [f"{each.name} {each.kind}" for each in series if each.grows] + [t.name for t in of_tables(warm) if t.grows]


def noise(seed: int, size: float) -> Callable[[int], float]:
    dice = random.Random(seed)
    made = [dice.gauss(0, size) for _ in MINUTES]
    return lambda minute: made[minute]


@pytest.mark.parametrize("seed", range(5))
def test_noise_does_not_grow(seed: int) -> None:
    up_and_down = noise(seed, 3 * MEBIBYTE)
    assert growing(samples(memory=lambda minute: 130 * MEBIBYTE + up_and_down(minute))) == []


@pytest.mark.parametrize("seed", range(5))
def test_a_leak_of_four_megabytes_an_hour_is_found(seed: int) -> None:
    up_and_down = noise(seed, MEBIBYTE)
    leaking = samples(memory=lambda minute: 130 * MEBIBYTE + minute * 4 * MEBIBYTE / 60 + up_and_down(minute))
    assert growing(leaking) == ["server memory"]


def test_what_the_warm_up_takes_is_not_a_leak() -> None:
    assert growing(samples(memory=lambda minute: min(130, 100 + 2 * minute) * MEBIBYTE)) == []


def test_a_run_that_is_too_short_judges_no_slope() -> None:
    """Twenty minutes, five of them the warm-up."""
    assert growing(samples(memory=lambda minute: (130 + minute) * MEBIBYTE)[:20]) == []


def test_a_descriptor_every_three_minutes_is_found() -> None:
    assert growing(samples(descriptors=lambda minute: 60 + minute // 3)) == ["server descriptors"]


def test_rows_that_expire_must_be_level() -> None:
    assert growing(samples(proofs=lambda minute: 5_000 + 100 * minute)) == ["accounts_proof_replay rows"]


def test_a_table_may_grow_with_the_calls_but_not_faster() -> None:
    assert growing(samples(events=lambda minute: 900 * minute)) == []
    assert growing(samples(events=lambda minute: 10 * minute * minute)) == ["events_event"]


def test_a_process_that_is_replaced_is_named() -> None:
    made = samples()
    replaced = Sample(
        3600.0, {"server": made[0].processes["server"], "server, child 1": Held(1, 1, 1)}, made[-1].tables
    )
    assert lost_processes(made) == []
    assert lost_processes([*made, replaced]) == ["server, child 1"]


def test_the_slope_is_the_median_of_all_slopes_and_its_interval_holds_it() -> None:
    exact = theil_sen(range(10), [3.0 * x for x in range(10)])
    assert exact is not None
    assert (exact.value, exact.low, exact.high) == (3.0, 3.0, 3.0)
    with_an_outlier = theil_sen(range(10), [*(3.0 * x for x in range(9)), 1_000.0])
    assert with_an_outlier is not None
    assert with_an_outlier.value == 3.0
    assert with_an_outlier.low <= 3.0 < with_an_outlier.high
    level = theil_sen(range(10), [5.0] * 10)
    assert level is not None
    assert (level.low, level.high) == (0.0, 0.0)


def test_the_interval_is_that_of_the_textbook() -> None:
    """Hollander and Wolfe's and Sen's rank formula, computed by hand for ten values without ties: 45 slopes, 45 - 28.8 over 2 is 8."""
    values = [1.0, 4.0, 2.0, 8.0, 5.0, 7.0, 11.0, 9.0, 10.0, 14.0]
    slopes = sorted((values[j] - values[i]) / (j - i) for i in range(10) for j in range(i + 1, 10))
    found = theil_sen(range(10), values)
    assert found is not None
    assert (found.low, found.high) == (slopes[8], slopes[37])


def test_too_few_samples_have_no_slope() -> None:
    assert theil_sen(range(7), [1.0] * 7) is None
    assert DAY_SECONDS == 24 * 60 * 60
