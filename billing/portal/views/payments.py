"""A person's payments: the list, the start of a payment, its outcome, and its receipt."""

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone

from accounts.queries.accounts import person
from billing.models import CheckoutKind
from billing.operations import checkouts
from billing.portal import pages
from billing.portal.views import wallet
from billing.queries import checkouts as queries
from billing.queries import payment_pages
from billing.rules import payment_labels
from gateway.core.contract.errors import ApiError
from gateway.core.portal.forms import AmountForm

TAB = "portal_payments"


@pages.personal("GET", "POST")
def index(request: HttpRequest) -> HttpResponse:
    """List the payments, with a form that starts a top-up."""
    if request.method == "POST":
        return _add(request)
    rows = Paginator(queries.of_owner(pages.owner_of(request)), queries.PAGE).get_page(request.GET.get("page"))
    return pages.show(request, TAB, "payments", rows=rows)


@pages.personal("GET")
def show(request: HttpRequest, transaction_id: str) -> HttpResponse:
    """Show the state of a payment, after the return from the provider and later."""
    checkout = get_object_or_404(queries.of_owner(pages.owner_of(request)), pk=transaction_id)
    about = {"checkout": checkout, "cancelled": "cancelled" in request.GET}
    return pages.show(request, TAB, "payment", **about)


@pages.personal("GET")
def receipt(request: HttpRequest, transaction_id: str) -> HttpResponse:
    """Show the receipt of a payment that has arrived."""
    checkout = get_object_or_404(queries.paid_by(pages.owner_of(request)), pk=transaction_id)
    about = {
        "checkout": checkout,
        "payer": person(request),
        "back": reverse("portal_payment", args=[checkout.pk]),
    }
    return render(request, "billing/receipt.html", about)


def _add(request: HttpRequest) -> HttpResponse:
    """Start a top-up and redirect to the provider's page; the same form again redirects to the same page."""
    form = AmountForm(request.POST)
    if not form.is_valid():
        return wallet.page(request, form, status=400)
    owner = pages.owner_of(request)
    try:
        checkout = checkouts.begin_and_place(
            owner,
            kind=CheckoutKind.TOP_UP,
            amount_microusd=form.cleaned_data["amount"],
            product=None,
            idempotency_key=form.cleaned_data["key"],
            requested_by=owner[1],
            saves_method=form.cleaned_data["saves_method"],
            now=timezone.now(),
        )
    except ApiError as error:
        messages.error(request, payment_labels.of_refusal(error.code))
        return wallet.page(request, form.to_try_again(error), status=error.status)
    return redirect(payment_pages.next_step(checkout))
