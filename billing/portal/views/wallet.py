"""A person's wallet: what is there, what came in, and what it was used for."""

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET

from accounts.models import Account
from billing.portal.forms import TopUpForm
from billing.queries import checkouts, payment_pages, usage, wallets
from billing.rules.owners import Owner

CALLS_SHOWN = 20


@login_required
@never_cache
@require_GET
def index(request: HttpRequest) -> HttpResponse:
    """Show the wallet."""
    return page(request, TopUpForm())


def page(request: HttpRequest, form: TopUpForm, *, status: int = 200) -> HttpResponse:
    """Render the wallet with a form for adding money, from which the provider's pages can be reached."""
    owner = owner_of(request)
    context = {
        "wallet": wallets.view(owner, timezone.now()),
        "payments": checkouts.newest_of(owner),
        "calls": usage.newest(owner, CALLS_SHOWN),
        "form": form,
        "can_pay": payment_pages.are_configured(),
        "is_test": payment_pages.mode() == "test",
    }
    response = render(request, "billing/wallet.html", context, status=status)
    response.form_targets = payment_pages.origins()  # type: ignore[attr-defined]
    return response


def owner_of(request: HttpRequest) -> Owner:
    """Name the signed-in person as the owner of a wallet."""
    assert isinstance(request.user, Account)
    return "account", request.user.did
