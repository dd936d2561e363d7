"""What every template of the portal is given."""

from django.conf import settings
from django.http import HttpRequest

from accounts.queries import appearance


def mail(request: HttpRequest) -> dict[str, bool]:
    """Tell whether a mail server is configured, so that no page promises a mail that will not come."""
    return {"mail_is_sent": settings.MAIL_IS_CONFIGURED}


def brand(request: HttpRequest) -> dict[str, str]:
    """Name the product whose look the person came with, where there is one."""
    look = getattr(request, "appearance", None)
    if look is None or look.product is None:
        return {}
    return {"brand": appearance.names().get(look.product, "")}
