"""The console's pages that are timed: the home page, the lists of the largest tables, and what support looks at."""

from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import quote

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
    account, usage_id = "did:web:bench.example:7", "use_000000300007"
    yield "page of an account", _load(reverse("admin:customers_account", args=[_number(account)]))
    for org in ("org_busy", "org_limit"):
        yield f"page of {org}", _load(reverse("admin:customers_organization", args=[org]))
    yield "page of a call", _load(reverse("admin:billing_call_change", args=[usage_id]))
    for name, text in (
        ("DID", account),
        ("usage ID", usage_id),
        ("request ID", f"req_{usage_id}"),
        ("name", "Person 77"),
    ):
        yield f"search for a {name}", _load(f"{reverse('admin:search')}?s={quote(text)}")
    for name, query in (("model", "model=deep"), ("product", "product=courier"), ("state", "state__exact=released")):
        yield f"calls by {name}", _load(f"{reverse('admin:billing_call_changelist')}?{query}")


def _load(path: str) -> Callable[[], object]:
    from django.db import connection, reset_queries
    from django.test import Client
    from django.test.utils import CaptureQueriesContext

    client = Client()
    client.force_login(_operator(), backend="django.contrib.auth.backends.ModelBackend")

    def load() -> object:
        reset_queries()  # their log has a limit
        with CaptureQueriesContext(connection) as queries:
            answer = client.get(path)
            assert answer.status_code < 400, answer
        return f"{answer.status_code}, {len(queries)} queries"

    return load


def _number(did: str) -> int:
    from accounts.models import Account

    return Account.objects.get(did=did).pk


def _operator() -> Any:
    from accounts.models import Account

    did = "did:web:bench.example:operator"
    found = Account.objects.filter(did=did).first()
    return found or Account.objects.create_superuser(did, None, "x")
