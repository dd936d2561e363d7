"""The state of the payment configuration, and the provider's hosted pages."""

from urllib.parse import urlsplit

from django.conf import settings

from billing.models import Checkout, CheckoutStatus
from billing.rules.checkouts import return_path

PROVIDER = "stripe"
API = "https://api.stripe.com"


def are_configured() -> bool:
    """Return whether there is a payment provider, without loading its library."""
    return bool(settings.STRIPE_SECRET_KEY)


def mode() -> str:
    """Return the mode of the configured key: `test` or `live`."""
    return "live" if "_live_" in settings.STRIPE_SECRET_KEY else "test"


def origins() -> list[str]:
    """List the origins of the provider's hosted pages, to which the portal's forms may redirect."""
    base = _origin(settings.STRIPE_API_BASE)
    return [*settings.PAYMENT_PAGE_ORIGINS, *([] if base == API else [base])]


def next_step(checkout: Checkout) -> str:
    """Return the page to which a payer is sent: the hosted page, or our page with the payment's outcome.

    If the hosted page is on an origin that forms may not redirect to, our own page links to it.
    """
    if checkout.status == CheckoutStatus.OPEN and checkout.url and _origin(checkout.url) in origins():
        return checkout.url
    return return_path(checkout.owner, checkout.id)


def _origin(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}"
