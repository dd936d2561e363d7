"""Automatic top-up of the organization's wallet, and the payment method that is charged."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_POST

from accounts.queries.accounts import person
from billing.models import CheckoutKind
from billing.queries import auto_top_up_pages, payment_pages
from billing.queries import auto_top_ups as queries
from billing.queries.auto_top_ups import Terms
from billing.rules import auto_top_up_labels as labels
from gateway.core.contract.errors import ApiError
from gateway.core.portal.auto_top_up_form import AutoTopUpForm
from gateway.core.portal.forms import OnceForm
from organizations.models import Membership
from organizations.operations import auto_top_ups, checkouts
from organizations.portal import texts
from organizations.portal.pages import back_to, member_page, owner_of, show
from organizations.rules.roles import MONEY_MANAGERS

TAB = "organization_auto_top_up"


@require_http_methods(["GET", "POST"])
@member_page(*MONEY_MANAGERS)
def index(request: HttpRequest, membership: Membership) -> HttpResponse:
    """Show automatic top-up; a form turns it on or changes its terms."""
    if request.method == "POST":
        return _set(request, membership)
    terms = queries.view(owner_of(membership), timezone.now()).terms
    form = AutoTopUpForm.of(
        threshold=terms.threshold_microusd, amount=terms.amount_microusd, monthly_limit=terms.monthly_limit_microusd
    )
    return _page(request, membership, form)


@require_POST
@member_page(*MONEY_MANAGERS)
def turn_off(request: HttpRequest, membership: Membership) -> HttpResponse:
    """Turn automatic top-up off."""
    auto_top_ups.turn_off(org_id=membership.organization_id, actor_did=person(request).did)
    messages.success(request, labels.TURNED_OFF)
    return back_to(TAB, membership)


@require_POST
@member_page(*MONEY_MANAGERS)
def confirm(request: HttpRequest, membership: Membership) -> HttpResponse:
    """Redirect to the provider's page where a person makes and confirms the payment that the bank did not want without them."""
    owner, form = owner_of(membership), OnceForm(request.POST)
    charge = auto_top_up_pages.to_confirm(owner, queries.view(owner, timezone.now()))
    if charge is None or not form.is_valid():
        return back_to(TAB, membership)
    try:
        checkout = checkouts.begin(
            org_id=membership.organization_id,
            kind=CheckoutKind.TOP_UP,
            amount_microusd=charge.amount_microusd,
            product=None,
            idempotency_key=form.cleaned_data["key"],
            actor_did=person(request).did,
            saves_method=True,
        )
    except ApiError as error:
        messages.error(request, texts.of_error(error))
        return back_to(TAB, membership)
    return redirect(payment_pages.next_step(checkout))


@require_POST
@member_page(*MONEY_MANAGERS)
def remove_method(request: HttpRequest, membership: Membership) -> HttpResponse:
    """Remove the saved payment method."""
    if auto_top_ups.remove_method(org_id=membership.organization_id, actor_did=person(request).did):
        messages.success(request, labels.REMOVED)
    return back_to(TAB, membership)


def _set(request: HttpRequest, membership: Membership) -> HttpResponse:
    form = AutoTopUpForm(request.POST)
    if not form.is_valid():
        return _page(request, membership, form, status=400)
    cleaned = form.cleaned_data
    terms = Terms(True, cleaned["threshold"], cleaned["amount"], cleaned["monthly_limit"])
    try:
        auto_top_ups.put(org_id=membership.organization_id, terms=terms, actor_did=person(request).did)
    except ApiError as error:
        messages.error(request, texts.of_error(error))
        return _page(request, membership, form, status=error.status)
    messages.success(request, labels.SET)
    return back_to(TAB, membership)


def _page(request: HttpRequest, membership: Membership, form: AutoTopUpForm, *, status: int = 200) -> HttpResponse:
    context = auto_top_up_pages.context(owner_of(membership), timezone.now())
    response = show(request, membership, TAB, status=status, form=form, once=OnceForm(auto_id=False), **context)
    response.form_targets = payment_pages.origins()  # type: ignore[attr-defined]
    return response
