"""Data shared by the usage pages of persons and organizations."""

from dataclasses import dataclass
from datetime import datetime

from billing.queries import usage_reports, wallets
from billing.queries.snapshots import one_snapshot
from billing.rules.months import Month
from billing.rules.owners import Owner
from billing.rules.usage_lines import Line, Named, lines
from billing.rules.usage_reports import MemberUse, ModelUse, UsageReport, Use
from gateway.core.contract.amounts import decimals_of


@dataclass(frozen=True, slots=True)
class UsageOfMonth:
    """A month's use: the page adds names to `members`; `models` and `days` are ready to be shown."""

    total: Use
    members: UsageReport[MemberUse]
    models: UsageReport[ModelUse]
    model_lines: list[Line]
    days: list[Line]
    held_microusd: int | None
    """The total that open calls hold now; None for a past month."""

    @property
    def places(self) -> int:
        """Return the number of decimals that shows every amount of the page exactly."""
        uses = [self.total, self.members.others, self.models.others, *(row.use for row in self.members.rows)]
        uses += [line.use for line in (*self.model_lines, *self.days)]
        return decimals_of(use.charged_microusd for use in uses)


def of_month(owner: Owner, month: Month, now: datetime) -> UsageOfMonth:
    """Read the data of a month's page from one snapshot. Days that have not begun are omitted."""
    is_current = month[0] <= now < month[1]
    with one_snapshot():
        members, models = usage_reports.by_product_and_member(owner, month), usage_reports.by_model(owner, month)
        days = [day for day in usage_reports.by_day(owner, month) if day.day <= now.date()]
        held_microusd = wallets.view(owner, now).held_microusd if is_current else None
    return UsageOfMonth(
        total=members.total,
        members=members,
        models=models,
        model_lines=lines(Named(row.model, row.model, row.use) for row in models.rows),
        days=lines(Named(f"{row.day}", f"{row.day:%a} {row.day.day} {row.day:%b}", row.use) for row in days),
        held_microusd=held_microusd,
    )
