"""Sums a month's calls, charges and holds by product and by member. SPEC: Organization usage summary."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime

from billing.rules.reports import Amount, Made, Subject


@dataclass(slots=True)
class Tally:
    """One row: counts and tokens of the calls begun in the month, what was charged in it, what is held now."""

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


def summarize(
    month: tuple[datetime, datetime], calls: Iterable[Made], charges: Iterable[Amount], holds: Iterable[Amount]
) -> Summary:
    """Sum a month up."""
    summary = Summary(*month)
    for call in calls:
        for row in summary.rows_of(call.subject):
            row.requests += 1
            row.input_tokens += call.input_tokens
            row.output_tokens += call.output_tokens
    for charge in charges:
        for row in summary.rows_of(charge.subject):
            row.charged_microusd += charge.microusd
    for hold in holds:
        for row in summary.rows_of(hold.subject):
            row.held_microusd += hold.microusd
    return summary
