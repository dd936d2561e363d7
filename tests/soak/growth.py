"""Judges which series of a run grow beyond noise."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from tests.soak.samples import Held, Sample
from tests.soak.slopes import Slope, theil_sen

DAY_SECONDS = 86_400.0
WARM_UP_SHARE = 0.25
JUDGED_SECONDS_MIN = 1_200.0
"""A shorter time after the warm-up judges no slope: caches are still filling then, and what expires has not expired yet."""
ALLOWED_SHARE = 0.2
"""How much of its level a series may gain in a day: what an hour cannot tell from caches that still fill."""
ALLOWED_MIN: Mapping[str, float] = {"memory": 8 * 1024 * 1024, "descriptors": 10, "threads": 10, "rows": 1_000}
"""The same for series with a low level."""
LEVEL_TABLES = ("accounts_proof_replay", "accounts_consumed_assertion", "accounts_limit", "billing_limit_use")
"""Tables whose rows expire within the run, so that they must not grow at all once it has warmed up."""
FASTER = 1.25
"""How much faster than the calls any other table may grow in the second half of the run than in the first."""
ROWS_MIN = 500

KINDS: Mapping[str, Callable[[Held], float]] = {
    "memory": lambda held: held.memory_bytes,
    "descriptors": lambda held: held.descriptors,
    "threads": lambda held: held.threads,
}


@dataclass(frozen=True, slots=True)
class Series:
    """One series after the warm-up: its first and last value, and its slope per day, None if there were too few samples."""

    name: str
    kind: str
    first: float
    last: float
    slope: Slope | None
    allowed: float

    @property
    def grows(self) -> bool:
        """Return whether even the lower end of the slope's interval is more than may be."""
        return self.slope is not None and self.slope.low > self.allowed


@dataclass(frozen=True, slots=True)
class Table:
    """A table's rows and bytes per call, in the first and the second half of the run after the warm-up."""

    name: str
    rows: int
    bytes_a_call: float
    earlier: float
    later: float
    must_be_level: bool

    @property
    def grows(self) -> bool:
        """Return whether it grew clearly faster than the calls."""
        return not self.must_be_level and self.later > FASTER * self.earlier + 0.05


def warmed_up(samples: Sequence[Sample]) -> list[Sample]:
    """Leave out the samples of the warm-up."""
    return list(samples[int(len(samples) * WARM_UP_SHARE) :])


def of_processes(samples: Sequence[Sample]) -> Iterator[Series]:
    """Yield the series of each process that was there all the time."""
    for process in samples[0].processes:
        if all(process in sample.processes for sample in samples):
            for kind, read in KINDS.items():
                values = [float(read(sample.processes[process])) for sample in samples]
                yield _series(process, kind, samples, values)


def of_level_tables(samples: Sequence[Sample]) -> Iterator[Series]:
    """Yield the rows of each table that must be level."""
    for name in LEVEL_TABLES:
        if name in samples[0].tables:
            yield _series(name, "rows", samples, [float(sample.tables[name].rows) for sample in samples])


def of_tables(samples: Sequence[Sample]) -> Iterator[Table]:
    """Yield each table that has grown, with its growth per call in both halves."""
    first, middle, last = samples[0], samples[len(samples) // 2], samples[-1]
    for name, size in last.tables.items():
        rows = size.rows - first.tables[name].rows
        if rows >= ROWS_MIN:
            yield Table(
                name,
                size.rows,
                (size.size_bytes - first.tables[name].size_bytes) / max(1, last.calls - first.calls),
                _rows_a_call(name, first, middle),
                _rows_a_call(name, middle, last),
                name in LEVEL_TABLES,
            )


def lost_processes(samples: Sequence[Sample]) -> list[str]:
    """Name the processes that ended or began after the warm-up."""
    names = {name for sample in samples for name in sample.processes}
    return sorted(name for name in names if not all(name in sample.processes for sample in samples))


def _series(name: str, kind: str, samples: Sequence[Sample], values: Sequence[float]) -> Series:
    slope = theil_sen([sample.at / DAY_SECONDS for sample in samples], values)
    allowed = max(ALLOWED_SHARE * sorted(values)[len(values) // 2], ALLOWED_MIN[kind])
    if samples[-1].at - samples[0].at < JUDGED_SECONDS_MIN:
        allowed = math.inf
    return Series(name, kind, values[0], values[-1], slope, allowed)


def _rows_a_call(name: str, earlier: Sample, later: Sample) -> float:
    return (later.tables[name].rows - earlier.tables[name].rows) / max(1, later.calls - earlier.calls)
