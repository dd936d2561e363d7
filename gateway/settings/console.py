"""The operator console's appearance and navigation (django-unfold)."""

from typing import Any

from django.apps import apps
from django.templatetags.static import static
from django.urls import reverse_lazy
from django.utils.functional import lazy
from django.utils.text import capfirst


def _row(icon: str, table: str, query: str = "", title: str = "", **more: Any) -> dict[str, Any]:
    """Build a navigation row for a table, with the table's title by default. It is hidden from operators who may not
    view the table."""
    app, _, name = table.partition(".")
    link = reverse_lazy(f"admin:{app}_{name}_changelist")
    return {
        "title": title or _title(table),
        "icon": icon,
        "link": lambda request: f"{link}{query}",
        "permission": lambda request: request.user.has_perm(f"{app}.view_{name}"),
        **more,
    }


def _title_of(table: str) -> str:
    return capfirst(str(apps.get_model(table)._meta.verbose_name_plural))  # noqa: SLF001 (documented)


_title = lazy(_title_of, str)  # models are not loaded yet when settings are read


def _group(title: str, *rows: dict[str, Any]) -> dict[str, Any]:
    return {"title": title, "separator": bool(title), "items": list(rows)}


FORMAT_MODULE_PATH = ["gateway.core.formats"]

NAVIGATION = [
    _group(
        "",
        {"title": "Overview", "icon": "space_dashboard", "link": reverse_lazy("admin:index")},
        _row(
            "rule",
            "billing.call",
            "?state__exact=review",
            "Reconciling calls",
            badge="gateway.admin.review_count",
        ),
        _row(
            "credit_card_clock",
            "billing.checkout",
            "?status__exact=review",
            "Payments in review",
            badge="gateway.admin.payment_review_count",
        ),
        _row(
            "balance",
            "billing.paymentdifference",
            "?state=open",
            badge="gateway.admin.difference_count",
        ),
        _row("schedule", "jobs.jobrun", badge="gateway.admin.job_alarm_count"),
    ),
    _group(
        "Money",
        _row("receipt_long", "billing.call"),
        _row("monitoring", "billing.usagerecord"),
        _row("account_balance_wallet", "billing.wallet"),
        _row("redeem", "billing.creditlot"),
        _row("menu_book", "billing.transfer"),
        _row("savings", "billing.budget"),
        _row("trending_down", "billing.loss"),
    ),
    _group(
        "Payments",
        _row("shopping_cart_checkout", "billing.checkout"),
        _row("receipt_long", "billing.invoice"),
        _row("webhook", "billing.providerevent"),
        _row("link", "billing.externalmapping"),
    ),
    _group(
        "Organizations",
        _row("domain", "organizations.organization"),
        _row("event_seat", "organizations.seat"),
        _row("history", "organizations.auditentry"),
    ),
    _group(
        "Models",
        _row("label", "inference.alias"),
        _row("dns", "inference.upstream"),
        _row("deployed_code", "inference.rawmodel"),
        _row("sell", "billing.priceversion"),
        _row("gavel", "judgement.judgementsettings"),
        _row("alt_route", "judgement.judgementfallback"),
        _row("bar_chart", "judgement.answercount"),
    ),
    _group(
        "Products",
        _row("inventory_2", "accounts.product"),
        _row("event_seat", "billing.seatprice"),
        _row("hub", "accounts.integration"),
        _row("devices", "accounts.publicclient"),
        _row("palette", "accounts.appearanceproduct"),
    ),
    _group(
        "Integrations",
        _row("folder", "integrations.project"),
        _row("deployed_code_history", "integrations.cirun"),
        _row("conversion_path", "integrations.ciprovider"),
        _row("terminal", "integrations.sandboxsettings"),
        _row("play_circle", "integrations.sandboxrun"),
        _row("code", "integrations.evolutionprogram"),
        _row("science", "integrations.evolutionjob"),
        _row("inventory", "integrations.evolutionartifact"),
        _row("history", "integrations.evolutionrevision"),
        _row("sync_lock", "integrations.accountkey"),
        _row("toggle_on", "integrations.integrationswitch"),
    ),
    _group(
        "People and keys",
        _row("person", "accounts.account"),
        _row("alternate_email", "account.emailaddress"),
        _row("phonelink_lock", "accounts.devicesession"),
        _row("computer", "usersessions.usersession"),
        _row("passkey", "mfa.authenticator"),
        _row("badge", "socialaccount.socialaccount"),
        _row("key", "accounts.signingkey"),
        _row("group", "auth.group"),
        _row("assignment", "admin.logentry"),
    ),
]

UNFOLD: dict[str, Any] = {
    "SITE_TITLE": "Account Gateway",
    "SITE_HEADER": "Account Gateway",
    "SITE_SUBHEADER": "Operator console",
    "SITE_SYMBOL": "account_balance_wallet",
    "SITE_FAVICONS": [
        {"rel": "icon", "type": "image/svg+xml", "href": lambda request: static("gateway/icon.svg")},
    ],
    "STYLES": [lambda request: static("gateway/console/console.css")],
    "SITE_URL": None,
    "SHOW_VIEW_ON_SITE": False,
    "SHOW_BACK_BUTTON": True,
    "LOGIN": {"form": "gateway.operator_sign_in.OperatorSignInForm"},
    "ENVIRONMENT": "gateway.admin.environment",
    "DASHBOARD_CALLBACK": "gateway.admin.dashboard",
    "BORDER_RADIUS": "6px",
    "COLORS": {
        "primary": {
            "50": "oklch(97.1% .014 243)",
            "100": "oklch(93.6% .032 243)",
            "200": "oklch(88.5% .062 243)",
            "300": "oklch(80.8% .105 243)",
            "400": "oklch(71.5% .143 243)",
            "500": "oklch(62.3% .164 249)",
            "600": "oklch(54.6% .168 253)",
            "700": "oklch(47.8% .15 255)",
            "800": "oklch(40.4% .122 256)",
            "900": "oklch(34.6% .095 257)",
            "950": "oklch(25.4% .07 259)",
        },
    },
    "SIDEBAR": {
        "show_search": True,
        "command_search": True,
        "show_all_applications": False,
        "navigation": NAVIGATION,
    },
}
