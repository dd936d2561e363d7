"""Distributions of answers, for operators to compare versions."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date

from judgement.rules.questions import Kind
from judgement.rules.tally import BUCKETS, MEASURES

PERCENT = 100


@dataclass(frozen=True, slots=True)
class Bar:
    """One tenth of a distribution. `height` is in percent of the largest one; `share` is the fraction of all
    answers.
    """

    label: str
    count: int
    share: float
    height: float
    left: int

    @property
    def top(self) -> float:
        """Return the bar's distance from the top of the plot, in percent."""
        return PERCENT - self.height


@dataclass(frozen=True, slots=True)
class Distribution:
    """The answers of one identity to one kind of question, in tenths, from `since` to `until`."""

    identity: str
    kind: Kind
    since: date
    until: date
    counts: tuple[int, ...]

    @property
    def total(self) -> int:
        """Return the number of answers."""
        return sum(self.counts)

    @property
    def measure(self) -> str:
        """Return the name of the measured quantity."""
        return MEASURES[self.kind]

    @property
    def mean(self) -> float:
        """Return the approximate mean, from the middles of the tenths."""
        middles = ((tenth + 0.5) / BUCKETS for tenth in range(BUCKETS))
        return sum(middle * count for middle, count in zip(middles, self.counts, strict=True)) / self.total

    @property
    def bars(self) -> list[Bar]:
        """Return the bars of its plot, from the lowest tenth to the highest."""
        largest = max(self.counts)
        return [
            Bar(
                label_of(tenth),
                count,
                round(PERCENT * count / self.total, 1),
                round(PERCENT * count / largest, 1),
                tenth * PERCENT // BUCKETS,
            )
            for tenth, count in enumerate(self.counts)
        ]


def label_of(tenth: int) -> str:
    """Return a tenth's label: its bounds."""
    return f"{tenth / BUCKETS:.1f} to {(tenth + 1) / BUCKETS:.1f}"


def tenths(counts: Mapping[int, int]) -> tuple[int, ...]:
    """Return the counts of all ten tenths."""
    return tuple(counts.get(tenth, 0) for tenth in range(BUCKETS))


def by_alias_and_kind(distributions: Sequence[Distribution]) -> dict[str, dict[Kind, list[Distribution]]]:
    """Group distributions for comparison: an alias's versions, by kind."""
    grouped: dict[str, dict[Kind, list[Distribution]]] = {}
    for each in distributions:
        grouped.setdefault(each.identity.partition("/")[0], {}).setdefault(each.kind, []).append(each)
    return grouped
