"""The page from which a dialog was opened."""

from urllib.parse import urlsplit

from django.http import HttpRequest
from django.urls import reverse

HEADER = "HX-Current-URL"


def opened_by_customer(request: HttpRequest) -> str | None:
    """Return the path of the customer's page that opened a dialog; None if another page did.

    Only the path is taken from the header, which htmx sets, so that it leads to no other site.
    """
    path = urlsplit(request.headers.get(HEADER, "")).path
    return path if path.startswith(f"{reverse('admin:index')}customers/") else None
