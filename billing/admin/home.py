"""The money on the console's home page."""

from collections.abc import Callable
from datetime import UTC, date, datetime, time
from functools import partial
from typing import Any

from django.http import HttpRequest
from django.template.defaultfilters import pluralize
from django.urls import reverse

from billing.queries import money_days, standing
from billing.queries.money_days import MoneyDays
from billing.queries.standing import Sum
from billing.rules.margins import Margin
from gateway.core.console import home
from gateway.core.console.home import UNKNOWN, Breakdown, Card, Days, Figure, Parts, Section
from gateway.core.console.moments import elapsed
from gateway.core.console.row_names import row_names
from gateway.core.contract.amounts import usd

NO_PRODUCT = "No product"
NOT_KNOWN = "Not known"
GONE = "No longer configured"
LAGS = "Not all of the newest calls are counted: the job that adds them up is late."

Amount = Callable[[Margin], int]


def charged(margin: Margin) -> int:
    return margin.charged_microusd


def cost(margin: Margin) -> int:
    return margin.cost_microusd


def gain(margin: Margin) -> int:
    """Return the margin, which calls without a known cost have none of."""
    return margin.margin_microusd or 0


def calls(margin: Margin) -> int:
    return margin.calls


def earnings(request: HttpRequest, days: Days, now: datetime) -> Parts:
    """Build revenue, cost, margin, calls and active accounts, and the revenue by product, model and upstream."""
    found = money_days.read(*days)
    report = reverse("admin:billing_marginday_changelist")
    figure = partial(_figure, found, days)
    figures = [
        figure("Revenue", "usd", charged, dollars, link=report),
        figure("Cost", "usd", cost, dollars, is_more_good=None, note=_uncosted(found, days), link=report),
        figure("Margin", "usd", gain, dollars, note=_percent(found, days), link=report),
        figure("Calls", "count", calls, "{:,}".format, link=reverse("admin:billing_call_changelist")),
        _active(found, days),
    ]
    return Parts(figures, _breakdowns(found, report))


def holdings(request: HttpRequest, days: Days, now: datetime) -> Parts:
    """Build the cards of what is held, in review, lost and owed."""
    found = standing.read(datetime.combine(days.first, time(), UTC))
    review, unpaid = found.in_review, found.unpaid
    cards: tuple[tuple[str, str, Sum, str, str, str], ...] = (
        ("billing.view_call", "Held by open calls", found.held, "open", "billing_call", "?state__exact=dispatched"),
        (
            "billing.view_call",
            "In review",
            review,
            f"waiting{_oldest(review, now)}",
            "billing_call",
            "?state__exact=review",
        ),
        ("billing.view_wallet", "Debts", found.debts, f"wallet{pluralize(found.debts.rows)}", "billing_wallet", ""),
        ("billing.view_invoice", "Owed on invoices", unpaid, f"unpaid{_oldest(unpaid, now)}", "billing_invoice", ""),
        ("billing.view_loss", f"Losses, last {home.PERIOD_DAYS} days", found.lost, "recorded", "billing_loss", ""),
    )
    return Parts(cards=[_card(*row[1:]) for row in cards if request.user.has_perm(row[0])])


def dollars(microusd: float) -> str:
    """Render an amount in whole cents, unless it is less than ten of them."""
    amount = int(microusd)
    return usd(amount) if abs(amount) < 100_000 else usd(round(amount, -4), 2)


def _figure(
    found: MoneyDays,
    days: Days,
    title: str,
    unit: str,
    amount: Amount,
    show: Callable[[Any], str],
    *,
    is_more_good: bool | None = True,
    note: str = "",
    link: str,
) -> Figure:
    values = {day: amount(margin) for day, margin in found.days.items()}
    period = sum(value for day, value in values.items() if day >= days.first)
    before = sum(value for day, value in values.items() if day < days.first)
    return Figure(
        title=title,
        today=show(values.get(days.today, 0)),
        yesterday=show(values.get(days.yesterday, 0)),
        period=show(period),
        before=show(before),
        unit=unit,
        points=home.by_day(days, values, show),
        change=home.change(period, before),
        is_good=None if is_more_good is None or period == before else period > before,
        note=note if found.is_whole else LAGS,
        link=link,
    )


def _active(found: MoneyDays, days: Days) -> Figure:
    before, now = found.active_before, found.active_now
    since = found.active_since
    return Figure(
        title="Active accounts",
        today=f"{found.active.get(days.today, 0):,}",
        yesterday=f"{found.active.get(days.yesterday, 0):,}",
        period=f"{now:,}",
        before=UNKNOWN if before is None else f"{before:,}",
        unit="count",
        points=home.by_day(days, found.active, "{:,}".format),
        change=home.change(now, before),
        is_good=None if before is None or before == now else now > before,
        note=f"Counted since {since.isoformat()}." if _is_young(found, days.first) and since else "",
        link=reverse("admin:accounts_account_changelist"),
    )


def _is_young(found: MoneyDays, first: date) -> bool:
    """Return whether accounts are counted for a shorter time than calls."""
    called = min(found.days, default=None)
    return (
        found.active_since is not None
        and found.active_since > first
        and called is not None
        and called < found.active_since
    )


def _uncosted(found: MoneyDays, days: Days) -> str:
    count = sum(margin.uncosted_calls for day, margin in found.days.items() if day >= days.first)
    return f"Without {count:,} call{pluralize(count)} of unknown cost." if count else ""


def _percent(found: MoneyDays, days: Days) -> str:
    total = sum((margin for day, margin in found.days.items() if day >= days.first), Margin())
    return f"{total.percent} of the revenue" if total.percent else ""


def _breakdowns(found: MoneyDays, report: str) -> list[Breakdown]:
    deployments = [key for key in found.by["deployment"] if key is not None]
    upstreams = row_names("upstream of deployment", deployments)
    named = (
        ("product", "product", lambda key: key or NO_PRODUCT),
        ("model", "model", lambda key: key or ""),
        ("upstream", "deployment", lambda key: _upstream(key, upstreams)),
    )
    return [_breakdown(title, found.by[kind], name, report) for title, kind, name in named]


def _upstream(deployment: str | None, names: dict[str, str]) -> str:
    """Return a deployment's upstream. One that is gone is named by nothing but its number, which says nothing here."""
    if deployment is None:
        return NOT_KNOWN
    return GONE if names[deployment] == deployment else names[deployment]


def _breakdown(title: str, sums: dict[str | None, Margin], name: Callable[[str | None], str], report: str) -> Breakdown:
    values: dict[str, int] = {}
    for key, margin in sums.items():
        values[name(key)] = values.get(name(key), 0) + margin.charged_microusd
    return Breakdown(f"Revenue by {title}", "usd", home.top(values, dollars), f"{report}?by={title}")


def _card(title: str, found: Sum, words: str, table: str, query: str) -> Card:
    return Card(title, usd(found.microusd), f"{found.rows:,} {words}", reverse(f"admin:{table}_changelist") + query)


def _oldest(found: Sum, now: datetime) -> str:
    return f", oldest {elapsed(found.oldest, now, depth=1)}" if found.oldest else ""


home.register(Section(10, ("billing.view_marginday",), earnings))
home.register(
    Section(30, ("billing.view_call", "billing.view_wallet", "billing.view_invoice", "billing.view_loss"), holdings)
)
