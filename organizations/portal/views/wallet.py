"""The wallet page: balance and credits, and the form that adds money."""

from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from django.views.decorators.http import require_GET

from billing.queries import payment_pages, reports, wallets
from gateway.core.contract.errors import OrgReportLimit
from organizations.models import Membership
from organizations.portal import texts
from organizations.portal.forms import TopUpForm
from organizations.portal.pages import member_page, owner_of, product_choices, show
from organizations.rules.roles import MONEY_MANAGERS

TAB = "organization_wallet"


@require_GET
@member_page(*MONEY_MANAGERS)
def index(request: HttpRequest, membership: Membership) -> HttpResponse:
    """Show the wallet."""
    return page(request, membership, TopUpForm())


def page(request: HttpRequest, membership: Membership, form: TopUpForm, *, status: int = 200) -> HttpResponse:
    """Render the wallet with a form for adding money, which may redirect to the provider."""
    owner = owner_of(membership)
    try:
        reports.check_lots(owner)
    except OrgReportLimit as error:
        return show(request, membership, TAB, too_much=texts.of_error(error))
    context = {
        "wallet": wallets.view(owner, timezone.now()),
        "form": form.for_products(product_choices(membership.organization_id)),
        "can_pay": payment_pages.are_configured(),
        "is_test": payment_pages.mode() == "test",
    }
    response = show(request, membership, TAB, status=status, **context)
    response.form_targets = payment_pages.origins()  # type: ignore[attr-defined]
    return response
