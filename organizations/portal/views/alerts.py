"""An organization's alerts: the balance below which people are told, the reader's switches for mails, and who was told what."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_POST

from accounts.queries.accounts import person
from billing.queries import alerts as thresholds
from gateway.core.contract.amounts import usd
from gateway.core.events.mail_forms import wanted
from gateway.core.events.operations import unsubscribing
from gateway.core.events.queries import mails
from gateway.core.events.queries.mails import Group
from gateway.core.portal.forms import LowBalanceForm
from organizations.models import Membership
from organizations.operations import alerts
from organizations.portal.pages import back_to, member_page, owner_of, paged, report_outcome, show
from organizations.queries.mail_people import concern_of
from organizations.rules.roles import MONEY_MANAGERS

TAB = "organization_alerts"


@require_http_methods(["GET", "POST"])
@member_page(*MONEY_MANAGERS)
def index(request: HttpRequest, membership: Membership) -> HttpResponse:
    """Show the alerts. A form sets the balance below which owners and billing members are told."""
    amount = thresholds.threshold_microusd(owner_of(membership))
    form = LowBalanceForm(request.POST if request.method == "POST" else None, amount_microusd=amount)
    if not form.is_valid():
        return _page(request, membership, form, 400 if form.is_bound else 200)
    with report_outcome(request, _confirmation(form.cleaned_data["amount"])) as outcome:
        alerts.set_threshold(
            org_id=membership.organization_id,
            amount_microusd=form.cleaned_data["amount"],
            actor_did=person(request).did,
        )
    return _page(request, membership, form, outcome.error.status) if outcome.error else back_to(TAB, membership)


@require_POST
@member_page(*MONEY_MANAGERS)
def switch(request: HttpRequest, membership: Membership) -> HttpResponse:
    """Turn kinds of mails about the organization on and off, for the reader alone."""
    groups = _groups(request, membership)
    unsubscribing.set_all(wanted=wanted(groups, request.POST), now=timezone.now())
    messages.success(request, "Your choice of mails was saved.")
    return back_to(TAB, membership)


def _page(request: HttpRequest, membership: Membership, form: LowBalanceForm, status: int) -> HttpResponse:
    rows = paged(request, mails.of_owner(*owner_of(membership)))
    groups = _groups(request, membership)
    return show(request, membership, TAB, status=status, form=form, groups=groups, rows=rows)


def _groups(request: HttpRequest, membership: Membership) -> list[Group]:
    return mails.switches(person(request).did, [concern_of(membership)])


def _confirmation(amount_microusd: int) -> str:
    if not amount_microusd:
        return (
            "Nobody will be told of a low balance. Owners and billing members are still told when the wallet is empty."
        )
    return f"Owners and billing members will be told when there is less than {usd(amount_microusd)} in the wallet."
