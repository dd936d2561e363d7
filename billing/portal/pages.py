"""The layout of the pages about a person's money."""

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from accounts.queries.accounts import person
from billing.rules.owners import Owner

# Address and title.
TABS = (("portal_wallet", "Wallet"), ("portal_payments", "Payments"), ("portal_usage", "Usage"))


def show(request: HttpRequest, tab: str, template: str, **context: Any) -> HttpResponse:
    """Render the page of a tab with the context and `status`."""
    status = context.pop("status", 200)
    return render(request, f"billing/{template}.html", {"tabs": TABS, "tab": tab, **context}, status=status)


def owner_of(request: HttpRequest) -> Owner:
    """Return the signed-in person as the owner of a wallet."""
    return "account", person(request).did
