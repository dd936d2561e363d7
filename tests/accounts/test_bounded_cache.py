"""The bounded cache never exceeds its limit in bytes."""

import time
from concurrent.futures import ThreadPoolExecutor

from accounts.rules.bounded_cache import ENTRY_BYTES, BoundedCache

SIZE = 800
ENTRY = SIZE + ENTRY_BYTES


def test_the_oldest_goes_first() -> None:
    cache: BoundedCache[int, str] = BoundedCache(100 * ENTRY)
    for number in range(102):
        cache.put(number, str(number), SIZE)
    assert [cache.get(number) for number in (0, 1, 2, 101)] == [None, None, "2", "101"]
    assert (len(cache), cache.size_bytes) == (100, 100 * ENTRY)


def test_fewer_large_entries_fit() -> None:
    cache: BoundedCache[int, str] = BoundedCache(200 * ENTRY)
    for number in range(400):
        cache.put(number, "", 2 * SIZE + ENTRY_BYTES)
    assert (len(cache), cache.size_bytes) == (100, 200 * ENTRY)


def test_an_entry_that_would_evict_all_others_is_not_stored() -> None:
    cache: BoundedCache[int, str] = BoundedCache(100 * ENTRY)
    cache.put(1, "1", SIZE + 1)
    assert (cache.get(1), cache.size_bytes) == (None, 0)


def test_an_entry_that_is_put_again_counts_once() -> None:
    cache: BoundedCache[int, str] = BoundedCache(100 * ENTRY)
    for value in ("a", "b"):
        cache.put(1, value, SIZE)
    assert (cache.get(1), len(cache), cache.size_bytes) == ("b", 1, ENTRY)


def test_clearing_forgets_everything() -> None:
    cache: BoundedCache[int, str] = BoundedCache(100 * ENTRY)
    cache.put(1, "1", SIZE)
    cache.clear()
    assert (cache.get(1), len(cache), cache.size_bytes) == (None, 0, 0)


def test_the_oldest_entries_are_evicted_as_long_as_they_are_over() -> None:
    cache: BoundedCache[int, int] = BoundedCache(100 * ENTRY)
    for number in (1, 2, 7, 3):
        cache.put(number, number, SIZE)
    cache.evict(lambda value: value < 5)
    assert [cache.get(number) for number in (1, 2, 7, 3)] == [None, None, 7, 3]
    assert (len(cache), cache.size_bytes) == (2, 2 * ENTRY)
    cache.evict(lambda value: True)
    cache.evict(lambda value: True)
    assert (len(cache), cache.size_bytes) == (0, 0)


def test_evicting_many_entries_takes_a_time_that_grows_with_their_number() -> None:
    """A server evicts them in its event loop, when a token comes after a pause."""
    entries = 200_000  # of which a search from the beginning for each would take many seconds
    cache: BoundedCache[int, int] = BoundedCache(entries * ENTRY)
    for number in range(entries):
        cache.put(number, number, SIZE)
    begun_at = time.thread_time()
    cache.evict(lambda value: True)
    assert (len(cache), cache.size_bytes) == (0, 0)
    assert time.thread_time() - begun_at < 5


def test_threads_never_push_it_over_its_bound() -> None:
    cache: BoundedCache[int, int] = BoundedCache(100 * ENTRY)

    def work(offset: int) -> None:
        for number in range(2000):
            cache.put(offset + number, number, SIZE)
            cache.get(offset + number // 2)

    with ThreadPoolExecutor(8) as threads:
        list(threads.map(work, range(0, 80_000, 10_000)))
    assert (len(cache), cache.size_bytes) == (100, 100 * ENTRY)
