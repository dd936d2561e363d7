"""The page that assigns the billing of a product's seats to an external account at the payment provider."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404
from django.views.decorators.http import require_http_methods

from accounts.models import Product
from accounts.queries.accounts import person
from billing.queries import external_mappings as queries
from billing.queries import payment_pages
from gateway.core.contract.errors import ApiError
from organizations.models import Membership
from organizations.operations import external_mappings
from organizations.portal import texts
from organizations.portal.forms import ExternalBillingForm
from organizations.portal.pages import back_to, member_page, show
from organizations.rules.roles import Role

TAB = "organization_products"


@require_http_methods(["GET", "POST"])
@member_page(Role.OWNER)
def index(request: HttpRequest, membership: Membership, product: str) -> HttpResponse:
    """Explain the conditions for the account, and have the provider confirm them."""
    found = get_object_or_404(Product, slug=product)
    if request.method == "GET":
        return _page(request, membership, found, ExternalBillingForm(), 200)
    form = ExternalBillingForm(request.POST)
    if not form.is_valid():
        return _page(request, membership, found, form, 400)
    try:
        _put(request, membership, product, form.cleaned_data["account"])
    except ApiError as error:
        messages.error(request, texts.of_error(error))
        return _page(request, membership, found, form, error.status)
    messages.success(request, f"That account now bills the seats of {found.name}.")
    return back_to(TAB, membership)


def _page(
    request: HttpRequest, membership: Membership, product: Product, form: ExternalBillingForm, status: int
) -> HttpResponse:
    context = {
        "product": product,
        "form": form,
        "mapping": queries.of(membership.organization_id, product.slug),
        "can_verify": payment_pages.are_configured(),
        "mode": payment_pages.mode(),
    }
    response = show(request, membership, TAB, template="organization_external_billing", **context)
    response.status_code = status
    return response


def _put(request: HttpRequest, membership: Membership, product: str, account: str) -> None:
    external_mappings.put(
        org_id=membership.organization_id,
        product=product,
        provider=payment_pages.PROVIDER,
        external_org_id=account,
        mode=payment_pages.mode(),
        actor_did=person(request).did,
    )
