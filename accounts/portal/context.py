"""Context processors of the portal's templates."""

from typing import NamedTuple

from django.conf import settings
from django.http import HttpRequest

from accounts.queries import appearance

# Path, label, and path prefixes of the section's other pages.
SECTIONS = (
    ("/", "Home", ()),
    ("/organizations", "Organizations", ("/organizations/",)),
    ("/wallet", "Wallet", ("/wallet/",)),
    ("/apps", "Apps", ("/apps/",)),
    ("/developers", "Developers", ()),
    ("/account/2fa/", "Security", ("/account/",)),
)


class Section(NamedTuple):
    """A link of the header. `current` is the value of aria-current: the page itself, a page below it, or neither."""

    path: str
    name: str
    current: str


def mail(request: HttpRequest) -> dict[str, bool]:
    """Return whether a mail server is configured, so that pages do not announce mail that will not arrive."""
    return {"mail_is_sent": settings.MAIL_IS_CONFIGURED}


def brand(request: HttpRequest) -> dict[str, str]:
    """Return the name of the product whose appearance is selected, if any."""
    look = getattr(request, "appearance", None)
    if look is None or look.product is None:
        return {}
    return {"brand": appearance.names().get(look.product, "")}


def sections(request: HttpRequest) -> dict[str, list[Section]]:
    """Return the links of the header; the current page's section is marked."""
    return {"sections": [Section(path, name, _current(request.path, path, below)) for path, name, below in SECTIONS]}


def _current(here: str, path: str, below: tuple[str, ...]) -> str:
    if here == path:
        return "page"
    return "true" if here.startswith(below) else ""
