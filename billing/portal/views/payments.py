"""A person's payments: begin one, and see what became of it."""

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_POST

from billing.models import CheckoutKind
from billing.operations import checkouts
from billing.portal.forms import TopUpForm
from billing.portal.views import wallet
from billing.queries import checkouts as queries
from billing.queries import payment_pages
from billing.rules import payment_words
from gateway.core.contract.errors import ApiError


@login_required
@never_cache
@require_POST
def add(request: HttpRequest) -> HttpResponse:
    """Begin a top-up and lead to the provider's page; the same form again leads to the same page."""
    form = TopUpForm(request.POST)
    if not form.is_valid():
        return wallet.page(request, form, status=400)
    owner = wallet.owner_of(request)
    try:
        checkout = checkouts.begin_and_place(
            owner,
            kind=CheckoutKind.TOP_UP,
            amount_microusd=form.cleaned_data["amount"],
            product=None,
            idempotency_key=form.cleaned_data["key"],
            requested_by=owner[1],
            now=timezone.now(),
        )
    except ApiError as error:
        messages.error(request, payment_words.of_refusal(error.code))
        return wallet.page(request, form.to_try_again(error), status=error.status)
    return redirect(payment_pages.next_step(checkout))


@login_required
@never_cache
@require_GET
def show(request: HttpRequest, transaction_id: str) -> HttpResponse:
    """Say what became of a payment, whether one comes back from the provider or looks later."""
    checkout = get_object_or_404(queries.of_owner(wallet.owner_of(request)), pk=transaction_id)
    return render(request, "billing/payment.html", {"checkout": checkout, "cancelled": "cancelled" in request.GET})
