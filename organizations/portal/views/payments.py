"""Payments into the organization's wallet: begin one, keep a payment method, see what became of it."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.views.decorators.http import require_GET, require_POST

from billing.models import Checkout, CheckoutKind
from billing.queries import checkouts as queries
from billing.queries import payment_pages
from gateway.core.contract.errors import ApiError
from gateway.core.forms import OnceForm
from organizations.models import Membership
from organizations.operations import checkouts
from organizations.portal import words
from organizations.portal.forms import TopUpForm
from organizations.portal.pages import back_to, member_page, person, show
from organizations.portal.views import money
from organizations.rules.roles import MONEY_MANAGERS


@require_POST
@member_page(*MONEY_MANAGERS)
def add(request: HttpRequest, membership: Membership) -> HttpResponse:
    """Begin a top-up and lead to the provider's page; the same form again leads to the same page."""
    form = TopUpForm(request.POST).for_products(money.product_choices(membership.organization_id))
    if not form.is_valid():
        return money.page(request, membership, top_up=form)
    asked = form.cleaned_data
    try:
        checkout = _begin(request, membership, CheckoutKind.TOP_UP, asked["key"], asked["amount"], asked["product"])
    except ApiError as error:
        messages.error(request, words.of_error(error))
        return money.page(request, membership, top_up=form.to_try_again(error), status=error.status)
    return redirect(payment_pages.next_step(checkout))


@require_POST
@member_page(*MONEY_MANAGERS)
def keep_method(request: HttpRequest, membership: Membership) -> HttpResponse:
    """Lead to the provider's page that keeps a payment method, and charges nothing."""
    form = OnceForm(request.POST)
    if not form.is_valid():
        return back_to(money.TAB, membership)
    try:
        checkout = _begin(request, membership, CheckoutKind.PAYMENT_METHOD, form.cleaned_data["key"])
    except ApiError as error:
        messages.error(request, words.of_error(error))
        return back_to(money.TAB, membership)
    return redirect(payment_pages.next_step(checkout))


@require_GET
@member_page(*MONEY_MANAGERS)
def state(request: HttpRequest, membership: Membership, transaction_id: str) -> HttpResponse:
    """Say what became of a payment, whether one comes back from the provider or looks later."""
    checkout = get_object_or_404(queries.of_owner(("organization", membership.organization_id)), pk=transaction_id)
    about = {"checkout": checkout, "cancelled": "cancelled" in request.GET}
    return show(request, membership, money.TAB, template="organization_payment", **about)


def _begin(
    request: HttpRequest,
    membership: Membership,
    kind: CheckoutKind,
    key: str,
    amount_microusd: int | None = None,
    product: str = "",
) -> Checkout:
    return checkouts.begin(
        org_id=membership.organization_id,
        kind=kind,
        amount_microusd=amount_microusd,
        product=product or None,
        idempotency_key=key,
        actor_did=person(request).did,
    )
