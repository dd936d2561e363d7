"""When a failing deployment is left alone, and when it is tried again."""

from inference.metering.routing import ASIDE_MAX_SECONDS, FAILURES_MAX, PROBE_SECONDS, Breaker


def failed(times: int, at: float = 100.0) -> Breaker:
    breaker = Breaker()
    for _ in range(times):
        breaker.failed(at)
    return breaker


def test_a_deployment_stays_until_it_failed_several_times_in_a_row() -> None:
    assert not failed(FAILURES_MAX - 1).is_open(100.0)
    assert failed(FAILURES_MAX).is_open(100.0)


def test_a_success_starts_the_count_anew() -> None:
    breaker = failed(FAILURES_MAX - 1)
    breaker.succeeded()
    breaker.failed(100.0)
    assert not breaker.is_open(100.0)


def test_an_overload_that_names_its_wait_sets_aside_at_once() -> None:
    breaker = Breaker()
    breaker.failed(100.0, wait_seconds=7.0)
    assert breaker.is_open(106.9)
    assert not breaker.is_open(107.0)


def test_no_wait_is_longer_than_the_longest() -> None:
    breaker = Breaker()
    breaker.failed(100.0, wait_seconds=3600.0)
    assert breaker.available_at() == 100.0 + ASIDE_MAX_SECONDS


def test_each_failed_probe_doubles_the_time_aside() -> None:
    breaker, waits = failed(FAILURES_MAX, at=0.0), []
    for _ in range(8):
        now = breaker.available_at()
        breaker.chosen(now)
        breaker.failed(now)
        waits.append(breaker.available_at() - now)
    assert waits == [2.0, 4.0, 8.0, 16.0, 32.0, 60.0, 60.0, 60.0]


def test_only_one_probe_goes_at_a_time() -> None:
    breaker = failed(FAILURES_MAX)
    back = breaker.available_at()
    assert not breaker.is_open(back)
    breaker.chosen(back)
    assert breaker.is_open(back)
    breaker.succeeded()
    assert not breaker.is_open(back)


def test_a_probe_that_was_given_up_leaves_the_next_call_to_probe() -> None:
    breaker = failed(FAILURES_MAX)
    back = breaker.available_at()
    breaker.chosen(back)
    breaker.probed()
    assert not breaker.is_open(back)


def test_a_probe_that_never_comes_back_blocks_nobody_for_long() -> None:
    breaker = failed(FAILURES_MAX)
    back = breaker.available_at()
    breaker.chosen(back)
    assert not breaker.is_open(back + PROBE_SECONDS)


def test_a_healthy_deployment_takes_any_number_of_calls() -> None:
    breaker = Breaker()
    for _ in range(10):
        breaker.chosen(100.0)
    assert not breaker.is_open(100.0)
