"""What the tables of the console share: filters, search, money."""

import pytest
from django.contrib import admin
from django.db.models import Field, ForeignKey
from django.test import Client, RequestFactory

from accounts.models import Account
from gateway.core.contract.amounts import usd
from gateway.navigation import GROUPS, Row
from tests.gateway.operators import clerk
from tests.gateway.test_admin import SECRETS, TABLES, page

pytestmark = pytest.mark.django_db

LOOKUPS = ("", "__startswith", "__gte", "__isnull", "__secret__startswith")


def columns(model: type) -> list[str]:
    """Name every column of a table, and of each table that it refers to."""
    own = [field for field in model._meta.get_fields() if isinstance(field, Field)]  # type: ignore[attr-defined]
    behind = [
        f"{field.name}__{each.name}"
        for field in own
        if isinstance(field, ForeignKey)
        for each in field.related_model._meta.get_fields()
    ]
    return [field.name for field in own] + behind


@pytest.mark.parametrize("table", TABLES, ids=".".join)
def test_a_list_reads_nothing_but_its_filters(operator: Client, table: tuple[str, str]) -> None:
    """Else every column could be read letter by letter, also one that no page shows."""
    [tables] = [each for model, each in admin.site._registry.items() if model._meta.label_lower == ".".join(table)]
    request, count = RequestFactory().get("/"), 0
    filters = {
        each[0] if isinstance(each, tuple) else getattr(each, "parameter_name", each) for each in tables.list_filter
    }
    for name in columns(tables.model):
        for lookup in LOOKUPS:
            is_allowed = tables.lookup_allowed(f"{name}{lookup}", "a", request)
            assert not is_allowed or name.removesuffix("__id").removesuffix("__slug") in filters, f"{name}{lookup}"
            count += 1
    hidden = next(name for name in columns(tables.model) if name not in filters)
    assert operator.get(page(table, "changelist"), {f"{hidden}__startswith": "a"}).status_code == 400
    assert count > 5


@pytest.mark.usefixtures("furnished")
def test_the_key_of_a_portal_session_cannot_be_guessed_letter_by_letter() -> None:
    curious = clerk("view_usersession")
    for guess in ("k", "x"):
        answer = curious.get("/admin/usersessions/usersession/", {"session_key__startswith": guess})
        assert answer.status_code == 400


@pytest.mark.parametrize("row", [row for rows in GROUPS.values() for row in rows], ids=lambda row: str(row.icon))
def test_a_page_is_called_what_the_navigation_calls_it(operator: Client, row: Row) -> None:
    link = row.path + row.query
    shown = operator.get(link)
    is_table = bool(row.table) and not row.query
    assert shown.status_code == 200
    assert not (is_table or row.page) or shown.context["title"] == row.shown_title
    assert (
        not is_table
        or f">{shown.context['opts'].verbose_name_plural}<".lower()
        in shown.content.decode().lower().replace("\n", "").replace("  ", "")
    )


def test_calls_usage_credits_and_the_ledger_are_called_so(operator: Client) -> None:
    names = {"call": "Calls", "usagerecord": "Usage", "creditlot": "Credits", "transfer": "Ledger"}
    for table, name in names.items():
        assert operator.get(page(("billing", table), "changelist")).context["title"] == name


@pytest.mark.parametrize("page_number", ["0", "2", "abc", "9" * 5000, ""])
def test_the_search_has_one_page(page_number: str) -> None:
    answer = clerk("view_wallet").get("/admin/search/", {"s": "wallet", "page": page_number})
    assert answer.status_code == 404


def test_the_search_finds_what_one_may_see() -> None:
    alone = clerk("view_wallet").get("/admin/search/", {"s": "wallet"})
    assert (alone.status_code, alone["Location"]) == (302, "/admin/billing/wallet/")
    found = clerk("view_wallet", "view_call", name="other").get("/admin/search/", {"s": "a"}).content.decode()
    assert "/admin/billing/wallet/" in found
    assert "/admin/billing/call/" in found
    assert "/admin/accounts/account/" not in found
    assert not [secret for secret in SECRETS if secret in found]


def test_a_password_is_changed_in_the_portal_whose_limits_count() -> None:
    answer = clerk().post("/admin/password_change/", {"old_password": "x"})
    assert (answer.status_code, answer["Location"]) == (303, "/account/password/change/")


@pytest.mark.parametrize(
    ("amount", "shown"),
    [(0, "$0.00"), (1, "$0.000001"), (10_000, "$0.01"), (5_000_000, "$5.00"), (12_345_678, "$12.345678"), (-1_500_000, "-$1.50"), (10**12, "$1,000,000.00"), (123_400, "$0.1234"), (None, "")],
)  # fmt: skip
def test_money_is_shown_exactly(amount: int | None, shown: str) -> None:
    assert usd(amount) == shown


def test_an_empty_list_says_what_makes_its_first_row(operator: Client) -> None:
    """Either a button adds one, or a text says where they come from. Pages of single rows are never empty."""
    request = RequestFactory().get("/")
    request.user = Account.objects.get(pk=operator.session["_auth_user_id"])
    silent = [
        model._meta.label
        for model, tables in admin.site._registry.items()
        if not tables.has_add_permission(request) and not getattr(tables, "empty_text", "")
    ]
    assert silent == []
    answer = operator.get(page(("billing", "loss"), "changelist"))
    assert "There are no losses yet. There is nothing to do: every call was paid in full." in answer.content.decode()
