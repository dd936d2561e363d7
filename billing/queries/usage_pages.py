"""Data shared by the usage pages of persons and organizations."""

from dataclasses import dataclass
from datetime import datetime

from accounts.queries import app_names
from billing.queries import usage_reports, wallets
from billing.queries.snapshots import one_snapshot
from billing.rules.months import Month
from billing.rules.owners import Owner
from billing.rules.usage_lines import Line, Named, lines
from billing.rules.usage_reports import AppUse, MemberUse, ModelUse, UsageReport, Use
from gateway.core.contract.amounts import decimals_of

NO_APP = "Not recorded"


@dataclass(frozen=True, slots=True)
class UsageOfMonth:
    """A month's use: the page adds names to `members`; `apps`, `models` and `days` are ready to be shown. A line of an app has
    the app's client id as its key."""

    total: Use
    members: UsageReport[MemberUse]
    apps: UsageReport[AppUse]
    app_lines: list[Line]
    models: UsageReport[ModelUse]
    model_lines: list[Line]
    days: list[Line]
    held_microusd: int | None
    """The total that open calls hold now; None for a past month."""

    @property
    def places(self) -> int:
        """Return the number of decimals that shows every amount of the page exactly."""
        uses = [
            self.total,
            self.members.others,
            self.apps.others,
            self.models.others,
            *(row.use for row in self.members.rows),
        ]
        uses += [line.use for line in (*self.app_lines, *self.model_lines, *self.days)]
        return decimals_of(use.charged_microusd for use in uses)


@dataclass(frozen=True, slots=True)
class SpentWhere:
    """A month's use in total, and the apps and models with the highest charges."""

    total: Use
    apps: list[Line]
    models: list[Line]


def spent_where(owner: Owner, month: Month, *, rows_max: int) -> SpentWhere:
    """Read where most of a month's charges come from, from one snapshot."""
    with one_snapshot():
        models = usage_reports.by_model(owner, month, rows_max=rows_max)
        apps = usage_reports.by_app(owner, month, rows_max=rows_max)
    by_model = lines(Named(row.model, row.model, row.use) for row in models.rows if row.use.charged_microusd)
    return SpentWhere(models.total, [line for line in _app_lines(apps) if line.use.charged_microusd], by_model)


def of_month(owner: Owner, month: Month, now: datetime) -> UsageOfMonth:
    """Read the data of a month's page from one snapshot. Days that have not begun are omitted."""
    is_current = month[0] <= now < month[1]
    with one_snapshot():
        members, models = usage_reports.by_product_and_member(owner, month), usage_reports.by_model(owner, month)
        apps = usage_reports.by_app(owner, month)
        days = [day for day in usage_reports.by_day(owner, month) if day.day <= now.date()]
        held_microusd = wallets.view(owner, now).held_microusd if is_current else None
    return UsageOfMonth(
        total=members.total,
        members=members,
        apps=apps,
        app_lines=_app_lines(apps),
        models=models,
        model_lines=lines(Named(row.model, row.model, row.use) for row in models.rows),
        days=lines(Named(f"{row.day}", f"{row.day:%a} {row.day.day} {row.day:%b}", row.use) for row in days),
        held_microusd=held_microusd,
    )


def _app_lines(apps: UsageReport[AppUse]) -> list[Line]:
    names = app_names.of(row.client_id for row in apps.rows if row.client_id)
    return lines(Named(row.client_id or "", names.get(row.client_id or "", NO_APP), row.use) for row in apps.rows)
