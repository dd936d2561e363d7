"""Counts requests of the same kind: how many, and how long they took."""

from typing import Any, NamedTuple

from gateway.core.telemetry.rules.buckets import added, bucket_of, empty


class Key(NamedTuple):
    """What the requests of one sum have in common. `hour` is its beginning, in Unix seconds."""

    hour: int
    route: str
    model: str
    product: str
    upstream: str
    outcome: str
    cause: str


class Durations:
    """A sum of durations, and their histogram."""

    __slots__ = ("buckets", "microseconds")

    def __init__(self) -> None:
        self.microseconds = 0
        self.buckets = empty()

    def add(self, nanoseconds: int) -> None:
        """Count one duration. One below 0, of a clock that was set back, counts as 0."""
        microseconds = max(nanoseconds // 1000, 0)
        self.microseconds += microseconds
        self.buckets[bucket_of(microseconds)] += 1

    def merge(self, other: "Durations") -> None:
        """Add what another one counted."""
        self.microseconds += other.microseconds
        self.buckets = added(self.buckets, other.buckets)


class Sums:
    """The requests of one key. `untraced` are those without a row of their own."""

    __slots__ = ("duration", "first_byte", "overhead", "requests", "untraced")

    def __init__(self) -> None:
        self.requests = self.untraced = 0
        self.duration, self.first_byte, self.overhead = Durations(), Durations(), Durations()

    def add(self, duration_ns: int, first_byte_ns: int | None, overhead_ns: int) -> None:
        """Count one request."""
        self.requests += 1
        self.duration.add(duration_ns)
        self.overhead.add(overhead_ns)
        if first_byte_ns is not None:
            self.first_byte.add(first_byte_ns)

    def merge(self, other: "Sums") -> None:
        """Add what another one counted."""
        self.requests += other.requests
        self.untraced += other.untraced
        self.duration.merge(other.duration)
        self.first_byte.merge(other.first_byte)
        self.overhead.merge(other.overhead)

    def columns(self) -> dict[str, Any]:
        """Return the columns of `HourlyTraffic`."""
        columns: dict[str, Any] = {"requests": self.requests, "untraced": self.untraced}
        for name in ("duration", "first_byte", "overhead"):
            durations: Durations = getattr(self, name)
            columns |= {f"{name}_microseconds": durations.microseconds, f"{name}_buckets": durations.buckets}
        return columns
