"""A cache that never outgrows its bound."""

from concurrent.futures import ThreadPoolExecutor

from accounts.rules.bounded_cache import BoundedCache


def test_the_oldest_goes_first() -> None:
    cache: BoundedCache[int, str] = BoundedCache(2)
    for number in (1, 2, 3):
        cache.put(number, str(number))
    assert [cache.get(number) for number in (1, 2, 3)] == [None, "2", "3"]
    assert len(cache) == 2


def test_clearing_forgets_everything() -> None:
    cache: BoundedCache[int, str] = BoundedCache(2)
    cache.put(1, "1")
    cache.clear()
    assert (cache.get(1), len(cache)) == (None, 0)


def test_threads_never_push_it_over_its_bound() -> None:
    cache: BoundedCache[int, int] = BoundedCache(50)

    def work(offset: int) -> None:
        for number in range(2000):
            cache.put(offset + number, number)
            cache.get(offset + number // 2)

    with ThreadPoolExecutor(8) as threads:
        list(threads.map(work, range(0, 80_000, 10_000)))
    assert len(cache) == 50
