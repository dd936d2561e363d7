"""Every address of the operator console, whoever asks: nothing opens without the right to it, and nothing breaks."""

from collections.abc import Iterator
from typing import Any

import pytest
from django.apps import apps
from django.contrib import admin
from django.contrib.auth.models import Group
from django.test import Client

from accounts.models import Account
from billing.models import Call, Checkout
from tests.gateway.every_url import templates
from tests.gateway.operators import show_only
from tests.gateway.test_admin import SECRETS, TABLES, page
from tests.gateway.test_admin_rights import actions_of

pytestmark = [
    pytest.mark.django_db,
    pytest.mark.usefixtures("untracked", "unkept_messages", "remembered_sign_ins", "remembered_rights"),
]

ODD_TEXTS = ("%_'\"\\" + "a" * 3000, "9" * 40, "-1")
LIST_QUERIES = ("p", "o", "_to_field", "_facets")  # read by the same code in every list, so one text each, in turn
REFUSED = (302, 303, 403, 404, 405)
ANSWER = {"post": "yes", "_form_submitted": "on", "reason": "r", "amount": "0.01"}
# Pages that every operator has, and that say nothing about any table.
COMMON = {"/admin/", "/admin/search/", "/admin/jsi18n/", "/admin/login/", "/admin/logout/", "/admin/password_change/"}
COMMON |= {"/admin/password_change/done/"}


@pytest.fixture(scope="module", autouse=True)
def _world(furnished_once: None) -> None:
    Group.objects.create(name="Clerks")


def signed_in(**rights: Any) -> Client:
    client = Client(raise_request_exception=False)
    client.force_login(Account.objects.create_user("did:web:localhost:clerk", None, "x", is_staff=True, **rights))
    return client


def first(table: tuple[str, str]) -> Any:
    return apps.get_model(*table)._default_manager.first()


def addresses() -> Iterator[str]:
    """List every address below /admin/, with the id of a row of its table, of none, and of another table."""
    other = Account.objects.values_list("pk", flat=True)[0]
    rows = {table: first(table) for table in TABLES}
    for template in templates():
        if not template.startswith("/admin/") or "(" in template:
            continue
        app, _, name = template.removeprefix("/admin/").partition("/")
        row = rows.get((app, name.partition("/")[0]))
        for key in (row.pk if row else other, "999999999", "none"):
            path = template
            for parameter in ("object_id", "id", "content_type_id", "app_label", "url"):
                path = path.replace(f"{{{parameter}}}", str(app if parameter == "app_label" else key))
            yield path


@pytest.mark.usefixtures("unrecorded_pages", "remembered_refusals")
def test_an_operator_without_rights_opens_nothing() -> None:
    clerk, opened = signed_in(), []
    walked = sorted({path for path in addresses() if path not in COMMON})
    for path in walked:
        statuses = {clerk.get(path).status_code, clerk.post(path, ANSWER).status_code}
        opened += [(status, path) for status in statuses if status not in REFUSED]
    assert len(walked) > 100
    assert opened == []
    assert Call.objects.filter(state="review").exists()
    assert Checkout.objects.filter(status="review").exists()


def test_the_common_pages_of_an_operator_without_rights_name_no_table() -> None:
    clerk = signed_in()
    assert clerk.get("/admin/search/", {"s": "a", "extended": "1"}).content.count(b"/admin/") == 0
    overview = clerk.get("/admin/")
    assert not overview.context["waiting"]
    assert not overview.context["parts"].cards
    assert b"/changelist" not in overview.content


@pytest.mark.usefixtures("unrecorded_pages", "unframed_pages")
@pytest.mark.parametrize("table", TABLES, ids=".".join)
def test_no_page_of_an_operator_with_every_right_breaks(
    table: tuple[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    show_only(monkeypatch, table)
    operator, broken = signed_in(is_superuser=True), []
    changelist = page(table, "changelist")
    row = first(table)
    kinds = [kind.rpartition("}/")[2] for kind in templates() if kind.startswith(f"{changelist}{{object_id}}/")]
    requests: list[tuple[str, dict[str, str]]] = [(page(table, "add"), {}), (changelist, {})]
    requests += [(changelist, {"q": text}) for text in ODD_TEXTS]
    turn = TABLES.index(table)
    requests += [(changelist, {name: ODD_TEXTS[(turn + at) % 3]}) for at, name in enumerate(LIST_QUERIES)]
    requests += [(changelist, {name: text}) for name in filters_of(table) for text in ("9" * 40, "2026-13-45")]
    requests += [(f"{changelist}{key}/{kind}", {}) for kind in kinds for key in (row.pk, "none", "9" * 40, "_25_27")]
    for path, query in requests:
        response = operator.get(path, query)
        if response.status_code >= 500:
            broken.append((response.status_code, path, query))
        assert not [secret for secret in SECRETS if secret.encode() in response.content]
    assert broken == []


def test_no_row_has_micro_usd_in_its_title() -> None:
    assert [table for table in TABLES if "micro-USD" in str(first(table))] == []


def filters_of(table: tuple[str, str]) -> list[str]:
    names = []
    for each in admin.site._registry[apps.get_model(*table)].list_filter:
        name = each[0] if isinstance(each, tuple) else getattr(each, "parameter_name", each)
        names += [f"{name}{lookup}" for lookup in ("", "__exact", "__gte")]
    return names


@pytest.mark.usefixtures("unrecorded_pages", "unframed_pages")
@pytest.mark.parametrize("table", TABLES, ids=".".join)
def test_no_action_of_an_operator_with_every_right_breaks(
    table: tuple[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    show_only(monkeypatch, table)
    operator, broken = signed_in(is_superuser=True), []
    changelist, row = page(table, "changelist"), first(table)
    kinds = [kind.rpartition("}/")[2] for kind in templates() if kind.startswith(f"{changelist}{{object_id}}/")]
    for key in ("none", "9" * 40, row.pk):
        paths = [f"{changelist}{key}/{kind}" for kind in kinds]
        broken += [path for path in paths if operator.post(path, ANSWER).status_code >= 500]
    keys = list(apps.get_model(*table)._default_manager.values_list("pk", flat=True))
    for selected in (["none"], ["9" * 40], keys):
        for action in actions_of(table):
            response = operator.post(changelist, {"action": action, "_selected_action": selected, **ANSWER})
            if response.status_code >= 500:
                broken.append(f"{action} {selected}")
    assert broken == []
