"""The report of margins: what calls earned, what they cost at the upstreams, and the difference."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.contrib import admin
from django.contrib.admin.views.main import SEARCH_VAR
from django.core.exceptions import PermissionDenied, SuspiciousOperation
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.template.response import TemplateResponse
from django.urls import path
from django.utils import timezone
from django.utils.html import format_html

from billing.models import MarginDay
from billing.queries import margins
from billing.rules.margins import Margin
from billing.rules.months import Month, name_of
from gateway.core.console import ReadOnlyAdmin
from gateway.core.console.row_names import row_names
from gateway.core.contract.amounts import decimals_of, usd
from gateway.core.portal.csv_files import csv_response

COLUMNS = ("Calls", "Revenue", "Cost", "Margin", "Margin in %", "Calls without a known cost", "Their revenue")
CSV_COLUMNS = (
    *("calls", "revenue_microusd", "cost_microusd", "margin_microusd"),
    *("calls_without_cost", "revenue_without_cost_microusd"),
)
NO_PRODUCT = "No product"
NO_UPSTREAM = "Not known"

Rows = list[tuple[str, Margin]]


@dataclass(frozen=True, slots=True)
class Grouping:
    """A way to group the report: its word in addresses, its title, and how the key of the sums is named."""

    word: str
    title: str
    key: str
    names: Callable[[Collection[Any]], Mapping[Any, str]]


def _upstreams(deployments: Collection[str | None]) -> dict[str | None, str]:
    known = [deployment for deployment in deployments if deployment is not None]
    names: dict[str | None, str] = {None: NO_UPSTREAM}
    return names | row_names("upstream of deployment", known)


GROUPINGS = (
    Grouping("model", "Model", "model", lambda names: {name: name for name in names}),
    Grouping("product", "Product", "product", lambda names: {name: name or NO_PRODUCT for name in names}),
    Grouping("upstream", "Upstream", "deployment", _upstreams),
    Grouping("day", "Day", "closed_on", lambda days: {day: day.isoformat() for day in days}),
)


@admin.register(MarginDay)
class MarginDayAdmin(ReadOnlyAdmin):
    """The margins of a month by model, product, upstream or day, as a page and as a CSV file."""

    empty_text = "Margins are known once calls are charged."
    ordering = ("-closed_on", "model", "id")

    def get_urls(self) -> list[Any]:
        """Add the address of the CSV file."""
        own = path("export/", self.admin_site.admin_view(self.export), name="billing_marginday_export")
        return [own, *super().get_urls()]

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        begin_at = self._begin_at(request)
        months = margins.months(begin_at, timezone.now())
        month, grouping = _chosen_month(request, months), _chosen_grouping(request)
        rows = _rows(grouping, month)
        context = {
            **self.admin_site.each_context(request),
            "title": "Margins",
            "opts": self.opts,
            "months": [(name_of(each), each[0], each == month) for each in months],
            "month": name_of(month),
            "groupings": GROUPINGS,
            "grouping": grouping,
            "table": _table(grouping, rows),
            "begin_at": begin_at,
            "negative": _negative_table(),
            "empty_text": self.empty_text,
        }
        return TemplateResponse(request, "admin/billing/margins.html", context)

    def export(self, request: HttpRequest) -> StreamingHttpResponse:
        """Return the report as a CSV file, in whole micro-USD."""
        months = margins.months(self._begin_at(request), timezone.now())
        month, grouping = _chosen_month(request, months), _chosen_grouping(request)
        header = (grouping.word, *CSV_COLUMNS)
        rows = [(name, *_numbers(each)) for name, each in _rows(grouping, month)]
        return csv_response(f"margins-by-{grouping.word}-{name_of(month)}", header, rows)

    def _begin_at(self, request: HttpRequest) -> datetime | None:
        """Return when the margins begin. Raises PermissionDenied and, for any other filter, SuspiciousOperation."""
        if not self.has_view_permission(request):
            raise PermissionDenied
        if set(request.GET) - {"month", "by", SEARCH_VAR}:  # there is no search, so the console's `q` is ignored
            raise SuspiciousOperation("The page has no other filter.")
        return margins.begin_at()


def _negative_table() -> dict[str, Any]:
    rows = [
        [one.model, f"{one.calls:,}", usd(one.margin_microusd), f"{one.since:%Y-%m-%d %H:%M} UTC"]
        for one in margins.negative()
    ]
    return {"headers": ["Model", "Last calls", "Their margin", "Since"], "rows": rows}


def _chosen_month(request: HttpRequest, months: list[Month]) -> Month:
    """Return the requested month, or the current one if the report does not have it."""
    return next((month for month in months if name_of(month) == request.GET.get("month")), months[0])


def _chosen_grouping(request: HttpRequest) -> Grouping:
    return next((each for each in GROUPINGS if each.word == request.GET.get("by")), GROUPINGS[0])


def _rows(grouping: Grouping, month: Month) -> Rows:
    """Return the sums by name, highest revenue first, or by day. Deployments of one upstream are summed."""
    found = margins.by(grouping.key, month)
    names, sums = grouping.names(list(found)), dict[str, Margin]()
    for key, margin in found.items():
        sums[names[key]] = sums.get(names[key], Margin()) + margin
    rows = list(sums.items())
    if grouping.word == "day":
        return sorted(rows, key=lambda row: row[0])
    return sorted(rows, key=lambda row: (-row[1].charged_microusd, row[0]))


def _table(grouping: Grouping, rows: Rows) -> dict[str, Any]:
    total = sum((margin for _, margin in rows), Margin())
    decimals = decimals_of(amount for _, each in [*rows, ("", total)] for amount in _amounts(each))
    shown = [[name, *_cells(margin, decimals)] for name, margin in rows]
    if rows:
        shown.append([format_html("<strong>{}</strong>", cell) for cell in ("Total", *_cells(total, decimals))])
    return {"headers": [grouping.title, *COLUMNS], "rows": shown}


def _cells(margin: Margin, decimals: int) -> list[str]:
    revenue, cost, difference, uncosted = (usd(amount, decimals) for amount in _amounts(margin))
    is_complete = not margin.uncosted_calls
    without = ["", ""] if is_complete else [f"{margin.uncosted_calls:,}", uncosted]
    return [f"{margin.calls:,}", revenue, cost, difference, margin.percent, *without]


def _amounts(margin: Margin) -> tuple[int, int | None, int | None, int]:
    cost_microusd = None if margin.margin_microusd is None else margin.cost_microusd
    return margin.charged_microusd, cost_microusd, margin.margin_microusd, margin.uncosted_charged_microusd


def _numbers(margin: Margin) -> tuple[int | None, ...]:
    revenue, cost, difference, uncosted = _amounts(margin)
    return margin.calls, revenue, cost, difference, margin.uncosted_calls, uncosted
