"""What every template of the portal is given."""

from django.http import HttpRequest

from accounts.queries import appearance


def brand(request: HttpRequest) -> dict[str, str]:
    """Name the product whose look the person came with, where there is one."""
    look = getattr(request, "appearance", None)
    if look is None or look.product is None:
        return {}
    return {"brand": appearance.names().get(look.product, "")}
