"""The navigation of the operator console: its rows, and those of them that an operator sees on a page."""

from functools import cache, lru_cache
from typing import Any, NamedTuple

from django.apps import apps
from django.http import HttpRequest
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils.module_loading import import_string
from django.utils.text import capfirst

from gateway.core.console import needs


class Row(NamedTuple):
    """A link to a table under the table's title, unless it says otherwise, to a page of its own (the name of its URL), or to the
    overview if it names neither."""

    icon: str
    table: str = ""
    query: str = ""
    title: str = ""
    badge: str = ""
    """The need whose number is shown beside it (`gateway.core.console.needs`)."""
    page: str = ""
    may: str = ""
    """The function that says who may open the page, by its dotted path."""

    @property
    def shown_title(self) -> str:
        """Return the row's text."""
        return self.title or _title_of(self.table)

    @property
    def path(self) -> str:
        """Return the address of the page without its query."""
        table = f"admin:{self.table.replace('.', '_')}_changelist" if self.table else "admin:index"
        return _address_of(self.page or table)

    def is_shown(self, request: HttpRequest) -> bool:
        """Return whether the operator may view the table or the page."""
        if self.may:
            return bool(import_string(self.may)(request))
        app, _, name = self.table.partition(".")
        return not self.table or request.user.has_perm(f"{app}.view_{name}")

    def on(self, request: HttpRequest) -> str:
        """Return the row as HTML. Only pages without a table are marked on their own page."""
        is_active = not self.table and request.path == self.path
        return _as_html(self, needs.number(request, self.badge) if self.badge else None, is_active)


@lru_cache(maxsize=1000)
def _as_html(row: Row, number: int | None, is_active: bool) -> str:
    """Render a row once for each number beside it: every page shows sixty of them."""
    return render_to_string("console/navigation_row.html", {"row": row, "number": number, "is_active": is_active})


@cache
def _title_of(table: str) -> str:
    return capfirst(str(apps.get_model(table)._meta.verbose_name_plural))  # noqa: SLF001 (documented)


@cache
def _address_of(page: str) -> str:
    return reverse(page)


GROUPS: dict[str, list[Row]] = {
    "": [
        Row("space_dashboard", title="Overview"),
        Row(
            "rule",
            "billing.call",
            "?state__exact=review",
            "Reconciling calls",
            badge="billing.reviews",
        ),
        Row(
            "credit_card_clock",
            "billing.checkout",
            "?status__exact=review",
            "Payments in review",
            badge="billing.checkouts",
        ),
        Row(
            "balance",
            "billing.paymentdifference",
            "?state=open",
            badge="billing.differences",
        ),
        Row("receipt", "billing.lostreceipt", "?state=open", badge="billing.lost"),
        Row("schedule", "jobs.jobrun", badge="jobs.states"),
        Row("folder_open", "inference.journalfolder", badge="inference.journals"),
    ],
    "Money": [
        Row("receipt_long", "billing.call"),
        Row("block", "telemetry.requesttrace", title="Refused requests"),
        Row("monitoring", "billing.usagerecord"),
        Row("account_balance_wallet", "billing.wallet"),
        Row("redeem", "billing.creditlot"),
        Row("menu_book", "billing.transfer"),
        Row("savings", "billing.budget"),
        Row("trending_down", "billing.loss"),
        Row("percent", "billing.marginday", badge="billing.margins"),
    ],
    "Payments": [
        Row("shopping_cart_checkout", "billing.checkout"),
        Row("autorenew", "billing.autotopup"),
        Row("credit_score", "billing.autotopupcharge", badge="billing.charges"),
        Row("receipt_long", "billing.invoice", badge="billing.past_due"),
        Row("webhook", "billing.providerevent", badge="billing.events"),
        Row("link", "billing.externalmapping"),
    ],
    "Organizations": [
        Row("domain", "organizations.organization"),
        Row("event_seat", "organizations.seat"),
        Row("history", "organizations.auditentry"),
    ],
    "Models": [
        Row("label", "inference.alias", badge="inference.without_deployment"),
        Row("dns", "inference.upstream", badge="inference.failing"),
        Row("deployed_code", "inference.rawmodel"),
        Row("speed", "billing.limit"),
        Row("sell", "billing.priceversion", badge="inference.without_price"),
        Row(
            "price_change",
            "inference.priceproposal",
            "?state__exact=waiting",
            badge="inference.proposals",
        ),
        Row("gavel", "judgement.judgementsettings"),
        Row("alt_route", "judgement.judgementfallback"),
        Row("bar_chart", "judgement.answercount"),
    ],
    "Products": [
        Row("inventory_2", "accounts.product"),
        Row("event_seat", "billing.seatprice"),
        Row("hub", "accounts.integration"),
        Row("devices", "accounts.publicclient"),
        Row("outbox", "events.endpoint", badge="events.endpoints"),
        Row("send", "events.delivery"),
        Row("mail", "events.mail"),
        Row("palette", "accounts.appearanceproduct"),
        Row(
            "description",
            page="admin:configuration",
            title="Configuration file",
            may="gateway.config.console.may_export",
        ),
    ],
    "Integrations": [
        Row("folder", "integrations.project"),
        Row("deployed_code_history", "integrations.cirun"),
        Row("conversion_path", "integrations.ciprovider"),
        Row("terminal", "integrations.sandboxsettings"),
        Row("play_circle", "integrations.sandboxrun"),
        Row("code", "integrations.evolutionprogram"),
        Row("science", "integrations.evolutionjob"),
        Row("inventory", "integrations.evolutionartifact"),
        Row("history", "integrations.evolutionrevision"),
        Row("sync_lock", "integrations.accountkey"),
        Row("toggle_on", "integrations.integrationswitch"),
    ],
    "People and keys": [
        Row("person", "accounts.account"),
        Row("sticky_note_2", "accounts.note"),
        Row("alternate_email", "account.emailaddress"),
        Row("phonelink_lock", "accounts.devicesession"),
        Row("computer", "usersessions.usersession"),
        Row("passkey", "mfa.authenticator"),
        Row("badge", "socialaccount.socialaccount"),
        Row("key", "accounts.signingkey", badge="accounts.signing_keys"),
        Row("receipt_long", "accounts.receiptkey", badge="accounts.receipt_keys"),
        Row("group", "auth.group"),
        Row("assignment", "admin.logentry"),
    ],
}


def navigation(request: HttpRequest) -> list[dict[str, Any]]:
    """Return what the operator may see, by group, its rows as HTML."""
    return [
        {"title": title, "separator": bool(title), "items": [row.on(request) for row in rows if row.is_shown(request)]}
        for title, rows in GROUPS.items()
    ]


def titled(request: HttpRequest, text: str) -> list[tuple[str, str]]:
    """Return the title and the address of each page that the operator may see and whose title contains a text."""
    if not text:
        return []
    rows = [row for group in GROUPS.values() for row in group if row.is_shown(request)]
    return [(row.shown_title, row.path + row.query) for row in rows if text.lower() in row.shown_title.lower()]
