"""Renders a soak as tables."""

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from bench.processes import describe_machine
from bench.tables import table
from tests.chaos.report import Report
from tests.soak import growth
from tests.soak.samples import Sample

BEGIN = "<!-- measured: written by `python -m tests.soak` with --write -->"
NOT_JUDGED = ("Clients without an answer", "Processes and routes not back")
"""What only means something while things are killed."""
MEBIBYTE = 1024 * 1024
UNITS: Mapping[str, float] = {"memory": MEBIBYTE}
NAMES = {"memory": "RSS MiB", "descriptors": "descriptors", "threads": "threads", "rows": "rows"}


@dataclass(frozen=True)
class SoakReport:
    """The chaos run's report of the money, and all samples."""

    money: Report
    samples: Sequence[Sample]

    @cached_property
    def series(self) -> list[growth.Series]:
        """Return every series that must be level."""
        return [*growth.of_processes(self._warm), *growth.of_level_tables(self._warm)]

    @cached_property
    def tables(self) -> list[growth.Table]:
        """Return every table that has grown."""
        return sorted(growth.of_tables(self._warm), key=lambda each: -each.bytes_a_call)

    @cached_property
    def cases(self) -> dict[str, list[str]]:
        """Return what must not happen, with its cases."""
        found = {name: list(cases) for name, cases in self.money.cases.items() if not name.startswith(NOT_JUDGED)}
        return {
            "Series that grow beyond noise": [f"{each.kind} of {each.name}" for each in self.series if each.grows],
            "Tables that grow faster than calls": [each.name for each in self.tables if each.grows],
            "Processes that ended or began": growth.lost_processes(self._warm),
            **found,
        }

    def markdown(self) -> str:
        """Render the whole report."""
        verdicts = table(["What must not happen", "Cases"], [[name, f"{len(c):,}"] for name, c in self.cases.items()])
        return "\n\n".join([self._opening(), verdicts, self._series(), self._tables(), self._requests()])

    @property
    def _warm(self) -> list[Sample]:
        return growth.warmed_up(self.samples)

    def _opening(self) -> str:
        made, calls = self.money.conditions, self.money.evidence.calls
        return (
            f"`{made.command}` with seed {made.seed}, on {describe_machine()}: {made.seconds:.0f} s of load, "
            f"{len(self.samples)} samples, {len(self._warm)} of them after the warm-up, "
            f"{len(self.money.evidence.journal.attempts):,} requests, {len(calls):,} calls in the ledger."
        )

    def _series(self) -> str:
        head = ["Series", "", "First", "Last", "Slope a day", "99 % interval", "Allowed a day", "Grows"]
        return table(head, (_row(each) for each in self.series))

    def _tables(self) -> str:
        rows = (
            [
                each.name,
                f"{each.rows:,}",
                f"{each.bytes_a_call:,.0f}",
                f"{each.earlier:.3f}",
                f"{each.later:.3f}",
                "yes" if each.grows else "no",
            ]
            for each in self.tables
        )
        head = ["Table", "Rows", "Bytes a call", "Rows a call, first half", "Second half", "Faster than calls"]
        return table(head, rows)

    def _requests(self) -> str:
        return table(["Requests", "Number", "Answers"], _requests(self.money))


def _row(each: growth.Series) -> list[str]:
    unit = UNITS.get(each.kind, 1.0)
    slope = each.slope
    cells = [f"{value / unit:,.1f}" for value in (each.first, each.last)]
    cells += [f"{slope.value / unit:,.1f}" if slope else "-"]
    cells += [f"{slope.low / unit:,.1f} to {slope.high / unit:,.1f}" if slope else "too few samples"]
    return [each.name, NAMES[each.kind], *cells, _allowed(each.allowed / unit), "yes" if each.grows else "no"]


def _allowed(value: float) -> str:
    return "not judged" if math.isinf(value) else f"{value:,.1f}"


def _requests(report: Report) -> Iterator[list[str]]:
    """Yield each purpose with the number of its requests and how they were answered."""
    by_purpose: dict[str, Counter[str]] = {}
    for attempt in report.evidence.journal.attempts:
        is_good = attempt.status is not None and attempt.status < 300
        outcome = attempt.outcome if is_good else attempt.code or attempt.outcome
        by_purpose.setdefault(attempt.purpose, Counter())[outcome] += 1
    for purpose, outcomes in sorted(by_purpose.items()):
        listed = ", ".join(f"{name} {count:,}" for name, count in outcomes.most_common())
        yield [purpose, f"{outcomes.total():,}", listed]
