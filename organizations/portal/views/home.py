"""The home page: what is left, where this month's money went, and next steps."""

from django.conf import settings
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.cache import never_cache

from accounts.queries.accounts import person
from billing.queries import usage, usage_pages, wallets
from billing.rules.months import month_around
from billing.rules.usage_reports import Use
from organizations.portal import next_steps

PLACES_MAX = 3
"""The number of apps and of models that the page names."""


@login_required
@never_cache
def home(request: HttpRequest) -> HttpResponse:
    """Show an overview of the account."""
    account, now = person(request), timezone.now()
    owner = ("account", account.did)
    wallet = wallets.view(owner, now)
    spent = usage_pages.spent_where(owner, month_around(now), rows_max=PLACES_MAX)
    context = {
        "wallet": wallet,
        "spent": spent,
        "places": [("By app", spent.apps), ("By model", spent.models)],
        "undecided": usage.undecided(owner),
        "review_hours": settings.REVIEW_RELEASE_HOURS,
        "now": now,
        "steps": next_steps.of(account, wallet, request.get_host(), now=now, has_used=spent.total != Use()),
    }
    return render(request, "portal/home.html", context)
