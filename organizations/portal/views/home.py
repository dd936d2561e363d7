"""The first page after signing in: what is in the wallet, what this month cost, and what to do next."""

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.cache import never_cache

from accounts.queries.accounts import person
from billing.queries import months, wallets
from organizations.portal import next_steps


@login_required
@never_cache
def home(request: HttpRequest) -> HttpResponse:
    """Show the account at a glance."""
    account, now = person(request), timezone.now()
    owner = ("account", account.did)
    wallet = wallets.view(owner, now)
    context = {
        "wallet": wallet,
        "charged_microusd": months.charged_microusd(owner, now),
        "now": now,
        "steps": next_steps.of(account, wallet),
    }
    return render(request, "portal/home.html", context)
