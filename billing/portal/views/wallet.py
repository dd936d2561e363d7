"""A person's wallet, and the form that adds money to it."""

from django.http import HttpRequest, HttpResponse
from django.utils import timezone

from billing.portal.pages import owner_of, personal, show
from billing.queries import payment_pages, wallets
from gateway.core.portal.forms import AmountForm


@personal("GET")
def index(request: HttpRequest) -> HttpResponse:
    """Show the wallet."""
    return page(request, AmountForm())


def page(request: HttpRequest, form: AmountForm, *, status: int = 200) -> HttpResponse:
    """Render the wallet with a form for adding money; the form may redirect to the provider's pages."""
    context = {
        "wallet": wallets.view(owner_of(request), timezone.now()),
        "form": form,
        "can_pay": payment_pages.are_configured(),
        "is_test": payment_pages.mode() == "test",
    }
    response = show(request, "portal_wallet", "wallet", status=status, **context)
    response.form_targets = payment_pages.origins()  # type: ignore[attr-defined]
    return response
