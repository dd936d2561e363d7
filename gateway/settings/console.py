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


def _group(title: str, *items: dict[str, Any]) -> dict[str, Any]:
    return {"title": title, "separator": True, "items": list(items)}


FORMAT_MODULE_PATH = ["gateway.formats"]

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
            _group(
                "Money",
                _item("Calls", "receipt_long", "billing.reservation"),
                _item("Usage", "monitoring", "billing.usagerecord"),
                _item("Wallets", "account_balance_wallet", "billing.wallet"),
                _item("Credits", "redeem", "billing.creditlot"),
                _item("Ledger", "menu_book", "billing.transfer"),
                _item("Budgets", "savings", "billing.budget"),
                _item("Losses", "trending_down", "billing.loss"),
            ),
            _group(
                "Payments",
                _item("Checkouts", "shopping_cart_checkout", "billing.checkout"),
                _item("Provider events", "webhook", "billing.providerevent"),
                _item("Billed elsewhere", "link", "billing.externalmapping"),
            ),
            _group(
                "Organizations",
                _item("Organizations", "domain", "organizations.organization"),
                _item("Seats", "event_seat", "organizations.seat"),
                _item("Audit log", "history", "organizations.auditentry"),
            ),
            _group(
                "Models",
                _item("Aliases", "label", "inference.alias"),
                _item("Upstreams", "dns", "inference.upstream"),
                _item("Raw models", "deployed_code", "inference.rawmodel"),
                _item("Prices", "sell", "billing.priceversion"),
                _item("Judgement", "gavel", "judgement.judgementsettings"),
                _item("Fallbacks", "alt_route", "judgement.judgementfallback"),
            ),
            _group(
                "Products",
                _item("Catalogue", "inventory_2", "accounts.product"),
                _item("Integrations", "hub", "accounts.integration"),
                _item("Public clients", "devices", "accounts.publicclient"),
                _item("Appearance", "palette", "accounts.appearanceproduct"),
            ),
            _group(
                "People and keys",
                _item("Accounts", "person", "accounts.account"),
                _item("Device sessions", "phonelink_lock", "accounts.devicesession"),
                _item("Portal sessions", "computer", "usersessions.usersession"),
                _item("Second factors", "passkey", "mfa.authenticator"),
                _item("Signing keys", "key", "accounts.signingkey"),
                _item("Operator groups", "group", "auth.group"),
                _item("Operator log", "assignment", "admin.logentry"),
            ),
        ],
    },
}
