"""Pages for payments into the organization's wallet: list, top up, save a payment method, show the status."""

from typing import Any

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from accounts.models import Account
from accounts.queries.accounts import person
from billing.models import Checkout, CheckoutKind
from billing.queries import checkouts as queries
from billing.queries import payment_methods, payment_pages
from gateway.core.contract.errors import ApiError
from gateway.core.portal.forms import OnceForm
from organizations.models import Membership
from organizations.operations import checkouts
from organizations.portal import texts
from organizations.portal.forms import TopUpForm
from organizations.portal.pages import back_to, member_page, owner_of, product_choices, show
from organizations.portal.views import wallet
from organizations.rules.roles import MONEY_MANAGERS

TAB = "organization_payments"


@require_http_methods(["GET", "POST"])
@member_page(*MONEY_MANAGERS)
def index(request: HttpRequest, membership: Membership) -> HttpResponse:
    """List the payments. A form starts a top-up."""
    if request.method == "POST":
        return _add(request, membership)
    rows = Paginator(queries.of_owner(owner_of(membership)), queries.PAGE).get_page(request.GET.get("page"))
    response = show(request, membership, TAB, rows=rows, **_method(membership))
    response.form_targets = payment_pages.origins()  # type: ignore[attr-defined]
    return response


@require_POST
@member_page(*MONEY_MANAGERS)
def keep_method(request: HttpRequest, membership: Membership) -> HttpResponse:
    """Redirect to the provider's page that saves a payment method without a charge."""
    form = OnceForm(request.POST)
    if not form.is_valid():
        return back_to(TAB, membership)
    try:
        checkout = _begin(request, membership, CheckoutKind.PAYMENT_METHOD, form.cleaned_data["key"])
    except ApiError as error:
        messages.error(request, texts.of_error(error))
        return back_to(TAB, membership)
    return redirect(payment_pages.next_step(checkout))


@require_GET
@member_page(*MONEY_MANAGERS)
def state(request: HttpRequest, membership: Membership, transaction_id: str) -> HttpResponse:
    """Show a payment's status, on the return from the provider and later."""
    checkout = get_object_or_404(queries.of_owner(owner_of(membership)), pk=transaction_id)
    context = {"checkout": checkout, "cancelled": "cancelled" in request.GET}
    return show(request, membership, TAB, template="organization_payment", **context)


@require_GET
@member_page(*MONEY_MANAGERS)
def receipt(request: HttpRequest, membership: Membership, transaction_id: str) -> HttpResponse:
    """Show the receipt of a completed payment."""
    checkout = get_object_or_404(queries.paid_by(owner_of(membership)), pk=transaction_id)
    context = {
        "checkout": checkout,
        "organization": membership.organization,
        "payer": Account.objects.filter(did=checkout.requested_by).first(),
        "back": reverse("organization_payment", args=[membership.organization_id, checkout.pk]),
    }
    return render(request, "billing/receipt.html", context)


def _add(request: HttpRequest, membership: Membership) -> HttpResponse:
    """Start a top-up and redirect to the provider's page. Sending the same form again redirects to the same page."""
    form = TopUpForm(request.POST).for_products(product_choices(membership.organization_id))
    if not form.is_valid():
        return wallet.page(request, membership, form, status=400)
    cleaned = form.cleaned_data
    try:
        checkout = _begin(
            request,
            membership,
            CheckoutKind.TOP_UP,
            cleaned["key"],
            cleaned["amount"],
            cleaned["product"],
            saves_method=cleaned["saves_method"],
        )
    except ApiError as error:
        messages.error(request, texts.of_error(error))
        return wallet.page(request, membership, form.to_try_again(error), status=error.status)
    return redirect(payment_pages.next_step(checkout))


def _method(membership: Membership) -> dict[str, Any]:
    """Return the saved payment method, and the form that saves another."""
    if not payment_pages.are_configured():
        return {"can_pay": False}
    saved = payment_methods.current(owner_of(membership))
    return {"can_pay": True, "saved_method": saved, "keep_method": OnceForm(auto_id="id_keep_%s")}


def _begin(
    request: HttpRequest,
    membership: Membership,
    kind: CheckoutKind,
    key: str,
    amount_microusd: int | None = None,
    product: str = "",
    *,
    saves_method: bool = False,
) -> Checkout:
    return checkouts.begin(
        org_id=membership.organization_id,
        kind=kind,
        amount_microusd=amount_microusd,
        product=product or None,
        idempotency_key=key,
        actor_did=person(request).did,
        saves_method=saves_method,
    )
