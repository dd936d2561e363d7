"""Operators of the console, with every right or with some, and what they see and leave behind."""

from typing import Any

import pytest
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import Permission
from django.test import Client
from django.urls import reverse

from accounts.models import Account
from accounts.operations.operator_log import CONFIGURATION_DID
from gateway import navigation


def superuser() -> Client:
    """Sign an operator with every right in."""
    return _signed_in(Account.objects.create_superuser("did:web:localhost:operator", "operator@localhost", "x"))


def clerk(*rights: str, name: str = "clerk", **fields: Any) -> Client:
    """Sign an operator with these rights in, each the codename of a permission."""
    account = Account.objects.create_user(f"did:web:localhost:{name}", None, "x", is_staff=True, **fields)
    account.user_permissions.set(Permission.objects.filter(codename__in=rights))
    return _signed_in(account)


def _signed_in(account: Account) -> Client:
    client = Client(raise_request_exception=False)
    client.force_login(account, backend="django.contrib.auth.backends.ModelBackend")
    return client


def show_only(monkeypatch: pytest.MonkeyPatch, *tables: tuple[str, str]) -> None:
    """Leave of the console's navigation the overview and the links to these tables. The numbers beside the others take the longest
    statement of most pages."""
    addresses = {"", *map(".".join, tables)}
    groups = {title: [row for row in rows if row.table in addresses] for title, rows in navigation.GROUPS.items()}
    monkeypatch.setattr(navigation, "GROUPS", groups)


def address(name: str, *arguments: Any) -> str:
    """Return the address of a page of the console."""
    return reverse(f"admin:{name}", args=arguments)


def logged() -> list[tuple[int, str]]:
    """List the kind and the words of each log entry of an operator, oldest first."""
    entries = LogEntry.objects.exclude(user__did=CONFIGURATION_DID).order_by("id")
    return list(entries.values_list("action_flag", "change_message"))


def errors(response: Any) -> dict[str, list[str]]:
    """Return the errors that a form came back with, by field."""
    return {name: list(texts) for name, texts in response.context["adminform"].form.errors.items()}


def publish_price(client: Client, form: dict[str, Any]) -> Any:
    """Save a new price, look at what it changes, and save it again."""
    page = address("billing_priceversion_add")
    first = client.post(page, form)
    assert errors(first) == {"__all__": ["Check what would change, then save again. Nothing was published yet."]}
    return client.post(page, {**form, "seen": first.context["adminform"].form.data["seen"]})
