"""The operator console's appearance (django-unfold)."""

from typing import Any

from django.templatetags.static import static

FORMAT_MODULE_PATH = ["gateway.core.formats"]

UNFOLD: dict[str, Any] = {
    "SITE_TITLE": "Account Gateway",
    "SITE_HEADER": "Account Gateway",
    "SITE_SUBHEADER": "Operator console",
    "SITE_SYMBOL": "account_balance_wallet",
    "SITE_FAVICONS": [
        {"rel": "icon", "type": "image/svg+xml", "href": lambda request: static("gateway/icon.svg")},
    ],
    "STYLES": [lambda request: static("gateway/console/console.css")],
    "SCRIPTS": [lambda request: static("gateway/console/choices.js")],
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
    },
}
