"""One thing for each event loop, and none for loops that are over."""

import asyncio

from gateway.core.runtime.per_loop import PerLoop


class Thing:
    """Something that refers to its loop, as connections do."""

    def __init__(self) -> None:
        self.loop = asyncio.get_running_loop()


dropped: list[Thing] = []
things = PerLoop(Thing, dropped.append)


async def use() -> Thing:
    first = things.get()
    assert things.get() is first
    return first


def test_each_loop_has_its_own_and_closed_ones_are_forgotten() -> None:
    used = [asyncio.run(use()) for _ in range(3)]
    assert len(set(used)) == 3
    assert list(things._things.values()) == used[-1:]
    assert dropped[-2:] == used[:2]


async def test_what_was_taken_away_is_made_anew() -> None:
    first = things.get()
    assert things.pop() is first
    assert things.pop() is None
    assert things.get() is not first
