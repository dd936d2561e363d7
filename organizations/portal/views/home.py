"""The home page: wallet, this month's cost, and next steps."""

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.cache import never_cache

from accounts.queries.accounts import person
from billing.queries import usage_reports, wallets
from billing.rules.months import month_around
from organizations.portal import next_steps


@login_required
@never_cache
def home(request: HttpRequest) -> HttpResponse:
    """Show an overview of the account."""
    account, now = person(request), timezone.now()
    owner = ("account", account.did)
    wallet = wallets.view(owner, now)
    context = {
        "wallet": wallet,
        "charged_microusd": usage_reports.total(owner, month_around(now)).charged_microusd,
        "now": now,
        "steps": next_steps.of(account, wallet, request.get_host()),
    }
    return render(request, "portal/home.html", context)
