"""Sums a month's calls, charges and holds by product and by member. SPEC: Organization usage summary."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime

from billing.rules.reports import Subject, SubjectHold, SubjectUsage


@dataclass(slots=True)
class Tally:
    """One row: counts and tokens of the calls begun in the month, charges in the month, and current holds."""

    requests: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    charged_microusd: int = 0
    held_microusd: int = 0


@dataclass(slots=True)
class Summary:
    """A month `[start, end)`: its rows by product and by membership (None: calls without one), and their totals."""

    start: datetime
    end: datetime
    products: dict[str | None, Tally] = field(default_factory=lambda: defaultdict(Tally))
    members: dict[str | None, Tally] = field(default_factory=lambda: defaultdict(Tally))
    totals: Tally = field(default_factory=Tally)

    def rows_of(self, subject: Subject) -> tuple[Tally, Tally, Tally]:
        """Return the rows that a call counts in."""
        return self.products[subject.product], self.members[subject.membership_id], self.totals


def summarize(month: tuple[datetime, datetime], used: Iterable[SubjectUsage], holds: Iterable[SubjectHold]) -> Summary:
    """Return the summary of a month."""
    summary = Summary(*month)
    for one in used:
        for row in summary.rows_of(one.subject):
            row.requests += one.calls
            row.input_tokens += one.input_tokens
            row.output_tokens += one.output_tokens
            row.charged_microusd += one.charged_microusd
    for hold in holds:
        for row in summary.rows_of(hold.subject):
            row.held_microusd += hold.microusd
    return summary
