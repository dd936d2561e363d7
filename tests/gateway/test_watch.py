"""The timer that looks for overdue connections: one for all of them, however they come and go."""

from typing import Any

from gateway.core.http.server.watch import Watch


class Loop:
    """A loop whose timers are called by hand."""

    def __init__(self) -> None:
        self.timers: list[tuple[Any, ...]] = []

    def call_later(self, seconds: float, *call: Any) -> object:
        self.timers.append(call)
        return call

    def time(self) -> float:
        return 0.0

    def pass_time(self) -> None:
        """Call the timers that are set."""
        due, self.timers = self.timers, []
        for call, *arguments in due:
            call(*arguments)


class Connection:
    client: tuple[str, int] | None = ("127.0.0.1", 1)

    def __init__(self, loop: Loop) -> None:
        self.loop: Any = loop
        self.looks = 0

    def end_if_overdue(self, now: float) -> None:
        self.looks += 1


def test_connections_that_come_one_after_the_other_share_a_timer() -> None:
    loop, watch = Loop(), Watch()
    for _ in range(3):
        gone = Connection(loop)
        watch.add(gone)
        watch.remove(gone)
    stays = Connection(loop)
    watch.add(stays)
    assert len(loop.timers) == 1
    loop.pass_time()
    loop.pass_time()
    assert (len(loop.timers), stays.looks, gone.looks) == (1, 2, 0)


def test_nothing_is_timed_without_connections_and_again_with_the_next() -> None:
    loop, watch = Loop(), Watch()
    for _ in range(2):
        connection = Connection(loop)
        watch.add(connection)
        loop.pass_time()
        watch.remove(connection)
        loop.pass_time()
        assert (loop.timers, connection.looks) == ([], 1)
