"""A person's alerts: the balance below which they are told, their switches for mails, and what they were told."""

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils import timezone

from accounts.queries.accounts import person
from billing.operations import alerts
from billing.portal import pages
from billing.queries import alerts as thresholds
from gateway.core.contract.amounts import usd
from gateway.core.events.mail_forms import wanted
from gateway.core.events.mail_people import concerns_of
from gateway.core.events.operations import unsubscribing
from gateway.core.events.queries import mails
from gateway.core.portal.forms import LowBalanceForm

TAB = "portal_alerts"
ROWS = 50


@pages.personal("GET", "POST")
def index(request: HttpRequest) -> HttpResponse:
    """Show the alerts. A form sets the balance below which the person is told."""
    owner = pages.owner_of(request)
    amount = thresholds.threshold_microusd(owner)
    form = LowBalanceForm(request.POST if request.method == "POST" else None, amount_microusd=amount)
    if form.is_valid():
        alerts.set_threshold(owner, amount_microusd=form.cleaned_data["amount"])
        messages.success(request, _confirmation(form.cleaned_data["amount"]))
        return redirect(TAB)
    did = person(request).did
    context = {
        "form": form,
        "groups": mails.switches(did, concerns_of(did)),
        "rows": Paginator(mails.of_recipient(did), ROWS).get_page(request.GET.get("page")),
        "status": 400 if form.is_bound else 200,
    }
    return pages.show(request, TAB, "alerts", **context)


@pages.personal("POST")
def switch(request: HttpRequest) -> HttpResponse:
    """Turn kinds of mails on and off, about the person's own account and their organizations."""
    did = person(request).did
    groups = mails.switches(did, concerns_of(did))
    unsubscribing.set_all(wanted=wanted(groups, request.POST), now=timezone.now())
    messages.success(request, "Your choice of mails was saved.")
    return redirect(TAB)


def _confirmation(amount_microusd: int) -> str:
    if not amount_microusd:
        return "You will not be told of a low balance. You will still be told when the wallet is empty."
    return f"You will be told when there is less than {usd(amount_microusd)} in your wallet."
