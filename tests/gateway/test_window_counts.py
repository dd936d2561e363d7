"""Uses that a process counts in memory, within windows."""

from concurrent.futures import ThreadPoolExecutor

from gateway.core.runtime.window_counts import WindowCounts


class Clock:
    """A clock that a test sets."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def counts(clock: Clock, **options: int) -> WindowCounts:
    return WindowCounts(60, clock=clock, **options)


def test_the_one_too_many_is_not_counted_until_the_window_ends() -> None:
    clock = Clock()
    kept = counts(clock)
    assert [kept.take("alice", 2) for _ in range(3)] == [(True, 1, 60), (True, 2, 60), (False, 2, 60)]
    clock.now += 59.5
    assert kept.take("alice", 2) == (False, 2, 0.5)
    assert kept.used("alice") == (2, 0.5)
    clock.now += 0.5
    assert kept.used("alice") == (0, 60)
    assert kept.take("alice", 2) == (True, 1, 60)


def test_keys_are_counted_apart() -> None:
    kept = counts(Clock())
    assert kept.take("alice", 1)[0]
    assert kept.take("bob", 1)[0]
    assert not kept.take("alice", 1)[0]


def test_what_is_given_back_can_be_used_again_within_the_window() -> None:
    clock = Clock()
    kept = counts(clock)
    kept.take("alice", 1)
    clock.now += 10
    kept.give_back("alice")
    assert kept.used("alice") == (0, 50)
    kept.give_back("alice")
    kept.give_back("nobody")
    assert kept.take("alice", 1) == (True, 1, 50)
    assert not kept.take("alice", 1)[0]


def test_strangers_cannot_fill_the_memory() -> None:
    kept = counts(Clock(), keys_max=3)
    for number in range(10):
        kept.take(number, 5)
    assert len(kept) == 3
    assert [kept.used(number)[0] for number in (6, 7, 8, 9)] == [0, 1, 1, 1]


def test_threads_share_one_count() -> None:
    kept = counts(Clock())
    with ThreadPoolExecutor(8) as threads:
        results = list(threads.map(lambda _: kept.take("alice", 100)[0], range(400)))
    assert results.count(True) == 100
