"""The console's pages that are timed: the home page, and the lists of the largest tables."""

from collections.abc import Callable, Iterator
from typing import Any

LISTS = (
    *(
        "billing_call",
        "billing_usagerecord",
        "billing_transfer",
        "billing_wallet",
        "billing_marginday",
        "billing_invoice",
    ),
    *("accounts_account", "organizations_organization"),
)


def pages() -> Iterator[tuple[str, Callable[[], object]]]:
    """Yield the name of each page and a function that loads it and returns its status and its number of queries."""
    from django.conf import settings
    from django.urls import reverse

    settings.USERSESSIONS_TRACK_ACTIVITY = False  # what every page of the portal and the console does besides
    yield "home page", _load(reverse("admin:index"))
    for table in LISTS:
        yield f"list of {table}", _load(reverse(f"admin:{table}_changelist"))


def _load(path: str) -> Callable[[], object]:
    from django.db import connection
    from django.test import Client
    from django.test.utils import CaptureQueriesContext

    client = Client()
    client.force_login(_operator(), backend="django.contrib.auth.backends.ModelBackend")

    def load() -> object:
        with CaptureQueriesContext(connection) as queries:
            answer = client.get(path)
            assert answer.content
        return f"{answer.status_code}, {len(queries)} queries"

    return load


def _operator() -> Any:
    from accounts.models import Account

    did = "did:web:bench.example:operator"
    found = Account.objects.filter(did=did).first()
    return found or Account.objects.create_superuser(did, None, "x")
