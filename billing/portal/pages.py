"""The layout of the pages about a person's money."""

from collections.abc import Callable
from typing import Any

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from accounts.queries.accounts import person
from billing.rules.owners import Owner

View = Callable[..., HttpResponseBase]

# Address and title.
TABS = (
    ("portal_wallet", "Wallet"),
    ("portal_payments", "Payments"),
    ("portal_auto_top_up", "Automatic top-up"),
    ("portal_usage", "Usage"),
    ("portal_alerts", "Alerts"),
)


def personal(*methods: str) -> Callable[[View], View]:
    """Restrict a view to these methods and to people who are signed in. No cache may store what it returns."""

    def decorate(view: View) -> View:
        return login_required(never_cache(require_http_methods(list(methods))(view)))

    return decorate


def show(request: HttpRequest, tab: str, template: str, **context: Any) -> HttpResponse:
    """Render the page of a tab with the context and `status`."""
    status = context.pop("status", 200)
    return render(request, f"billing/{template}.html", {"tabs": TABS, "tab": tab, **context}, status=status)


def owner_of(request: HttpRequest) -> Owner:
    """Return the signed-in person as the owner of a wallet."""
    return "account", person(request).did
