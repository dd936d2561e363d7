"""Automatic top-up of a person's wallet, and the payment method that is charged."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils import timezone

from billing.models import CheckoutKind
from billing.operations import auto_top_ups, checkouts, payment_methods
from billing.portal import pages
from billing.queries import auto_top_up_pages, payment_pages
from billing.queries import auto_top_ups as queries
from billing.queries.auto_top_ups import Terms
from billing.rules import auto_top_up_labels as labels
from billing.rules import payment_labels
from gateway.core.contract.errors import ApiError
from gateway.core.portal.auto_top_up_form import AutoTopUpForm
from gateway.core.portal.forms import OnceForm

TAB = "portal_auto_top_up"


@pages.personal("GET", "POST")
def index(request: HttpRequest) -> HttpResponse:
    """Show automatic top-up; a form turns it on or changes its terms."""
    if request.method == "POST":
        return _set(request)
    terms = queries.view(pages.owner_of(request), timezone.now()).terms
    form = AutoTopUpForm.of(
        threshold=terms.threshold_microusd, amount=terms.amount_microusd, monthly_limit=terms.monthly_limit_microusd
    )
    return _page(request, form)


@pages.personal("POST")
def turn_off(request: HttpRequest) -> HttpResponse:
    """Turn automatic top-up off."""
    auto_top_ups.disable(pages.owner_of(request), now=timezone.now())
    messages.success(request, labels.TURNED_OFF)
    return redirect(TAB)


@pages.personal("POST")
def keep_method(request: HttpRequest) -> HttpResponse:
    """Redirect to the provider's page that saves a payment method without a charge."""
    return _to_provider(request, CheckoutKind.PAYMENT_METHOD, None)


@pages.personal("POST")
def confirm(request: HttpRequest) -> HttpResponse:
    """Redirect to the provider's page where the person makes and confirms the payment that the bank did not want without them."""
    owner = pages.owner_of(request)
    charge = auto_top_up_pages.to_confirm(owner, queries.view(owner, timezone.now()))
    if charge is None:
        return redirect(TAB)
    return _to_provider(request, CheckoutKind.TOP_UP, charge.amount_microusd)


@pages.personal("POST")
def remove_method(request: HttpRequest) -> HttpResponse:
    """Remove the saved payment method."""
    owner = pages.owner_of(request)
    if payment_methods.remove(owner, removed_by=owner[1], now=timezone.now()):
        messages.success(request, labels.REMOVED)
    return redirect(TAB)


def _set(request: HttpRequest) -> HttpResponse:
    form = AutoTopUpForm(request.POST)
    if not form.is_valid():
        return _page(request, form, status=400)
    cleaned, owner = form.cleaned_data, pages.owner_of(request)
    terms = Terms(True, cleaned["threshold"], cleaned["amount"], cleaned["monthly_limit"])
    try:
        auto_top_ups.put(owner, terms, requested_by=owner[1], now=timezone.now())
    except ApiError as error:
        messages.error(request, error.message)
        return _page(request, form, status=error.status)
    messages.success(request, labels.SET)
    return redirect(TAB)


def _page(request: HttpRequest, form: AutoTopUpForm, *, status: int = 200) -> HttpResponse:
    context = auto_top_up_pages.context(pages.owner_of(request), timezone.now())
    response = pages.show(
        request, TAB, "auto_top_up", status=status, form=form, once=OnceForm(auto_id=False), **context
    )
    response.form_targets = payment_pages.origins()  # type: ignore[attr-defined]
    return response


def _to_provider(request: HttpRequest, kind: CheckoutKind, amount_microusd: int | None) -> HttpResponse:
    form, owner = OnceForm(request.POST), pages.owner_of(request)
    if not form.is_valid():
        return redirect(TAB)
    try:
        checkout = checkouts.begin_and_place(
            owner,
            kind=kind,
            amount_microusd=amount_microusd,
            product=None,
            idempotency_key=form.cleaned_data["key"],
            requested_by=owner[1],
            saves_method=amount_microusd is not None,
            now=timezone.now(),
        )
    except ApiError as error:
        messages.error(request, payment_labels.of_refusal(error.code))
        return redirect(TAB)
    return redirect(payment_pages.next_step(checkout))
