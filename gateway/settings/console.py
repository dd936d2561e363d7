"""The operator console's look and navigation (django-unfold)."""

from typing import Any

from django.templatetags.static import static
from django.urls import reverse_lazy


def _item(title: str, icon: str, model: str, query: str = "", **more: Any) -> dict[str, Any]:
    """Make a navigation entry to a table; who may not view it does not see it."""
    app, _, name = model.partition(".")
    link = reverse_lazy(f"admin:{app}_{name}_changelist")
    return {
        "title": title,
        "icon": icon,
        "link": lambda request: f"{link}{query}",
        "permission": lambda request: request.user.has_perm(f"{app}.view_{name}"),
        **more,
    }


def _group(title: str, tables: list[tuple[str, str, str]]) -> dict[str, Any]:
    return {"title": title, "separator": True, "items": [_item(*table) for table in tables]}


FORMAT_MODULE_PATH = ["gateway.core.formats"]

TABLES: dict[str, list[tuple[str, str, str]]] = {
    "Money": [
        ("Calls", "receipt_long", "billing.reservation"),
        ("Usage", "monitoring", "billing.usagerecord"),
        ("Wallets", "account_balance_wallet", "billing.wallet"),
        ("Credits", "redeem", "billing.creditlot"),
        ("Ledger", "menu_book", "billing.transfer"),
        ("Budgets", "savings", "billing.budget"),
        ("Losses", "trending_down", "billing.loss"),
    ],
    "Payments": [
        ("Checkouts", "shopping_cart_checkout", "billing.checkout"),
        ("Provider events", "webhook", "billing.providerevent"),
        ("Billed elsewhere", "link", "billing.externalmapping"),
    ],
    "Organizations": [
        ("Organizations", "domain", "organizations.organization"),
        ("Seats", "event_seat", "organizations.seat"),
        ("Audit log", "history", "organizations.auditentry"),
    ],
    "Models": [
        ("Aliases", "label", "inference.alias"),
        ("Upstreams", "dns", "inference.upstream"),
        ("Raw models", "deployed_code", "inference.rawmodel"),
        ("Prices", "sell", "billing.priceversion"),
        ("Judgement", "gavel", "judgement.judgementsettings"),
        ("Fallbacks", "alt_route", "judgement.judgementfallback"),
    ],
    "Products": [
        ("Catalogue", "inventory_2", "accounts.product"),
        ("Integrations", "hub", "accounts.integration"),
        ("Public clients", "devices", "accounts.publicclient"),
        ("Appearance", "palette", "accounts.appearanceproduct"),
    ],
    "People and keys": [
        ("Accounts", "person", "accounts.account"),
        ("Device sessions", "phonelink_lock", "accounts.devicesession"),
        ("Portal sessions", "computer", "usersessions.usersession"),
        ("Second factors", "passkey", "mfa.authenticator"),
        ("Signing keys", "key", "accounts.signingkey"),
        ("Operator groups", "group", "auth.group"),
        ("Operator log", "assignment", "admin.logentry"),
    ],
}
"""The console's tables by group: title, icon, model."""

UNFOLD: dict[str, Any] = {
    "SITE_TITLE": "Account Gateway",
    "SITE_HEADER": "Account Gateway",
    "SITE_SUBHEADER": "Operator console",
    "SITE_SYMBOL": "account_balance_wallet",
    "SITE_FAVICONS": [
        {"rel": "icon", "type": "image/svg+xml", "href": lambda request: static("gateway/icon.svg")},
    ],
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
        "navigation": [
            {
                "items": [
                    {"title": "Overview", "icon": "space_dashboard", "link": reverse_lazy("admin:index")},
                    _item(
                        "Review queue",
                        "rule",
                        "billing.reservation",
                        "?state__exact=review",
                        badge="gateway.admin.review_count",
                    ),
                    _item(
                        "Payments to look at",
                        "credit_card_clock",
                        "billing.checkout",
                        "?status__exact=review",
                        badge="gateway.admin.payment_review_count",
                    ),
                ],
            },
            *(_group(title, tables) for title, tables in TABLES.items()),
        ],
    },
}
