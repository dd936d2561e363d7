"""Operators with one right, and with every right but those to one table: what opens, what an action does, what is seen.

What is expected follows from the rights alone, for every address that the URLconf has below a table.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any
from urllib.parse import urlencode

import pytest
from allauth.usersessions.models import UserSession
from django.apps import apps
from django.conf import settings
from django.contrib import admin
from django.contrib.auth.models import Group, Permission
from django.db import connection, models, transaction
from django.db.models import QuerySet
from django.template.response import TemplateResponse
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from accounts.models import Account
from gateway.core.contract.ids import new_id
from gateway.site import ConsoleSite
from inference.models import Alias, Upstream
from organizations.models import Organization
from tests.gateway.console import ALICE
from tests.gateway.every_url import templates
from tests.gateway.operators import clerk, show_only
from tests.gateway.test_admin import READ_ONLY, SECRETS, TABLES

pytestmark = [
    pytest.mark.django_db,
    pytest.mark.usefixtures(
        "untracked", "unkept_messages", "remembered_sign_ins", "remembered_rights", "remembered_refusals"
    ),
]

ONE_KEY, OTHER_KEY = "sk-literal-secret", "sk-primary-secret"
RIGHTS = ("view", "add", "change", "delete")
ANSWER = {"post": "yes", "_form_submitted": "on", "reason": "r", "amount": "0.01", "name": "New"}
FORM, FORM_TYPE = urlencode(ANSWER), "application/x-www-form-urlencoded"
ACTIONS = (
    "delete_selected",
    "cancel",
    "suspend",
    "unsuspend",
    "revoke",
    "charge",
    "release",
    "credit",
    "record_refund",
    "accept",
    "accept_beyond_bounds",
    "dismiss",
    "rotate",
    "send_again",
)
# Rows that no right but every right changes: groups give rights, and who lost a second factor is helped by few.
SUPERUSERS_ONLY = {"group"}
SINGLE = {"judgementsettings", "sandboxsettings"}  # made once, and kept
ADDED = {name for _, name in TABLES} - READ_ONLY - SUPERUSERS_ONLY - SINGLE
EDITED = {name for _, name in TABLES} - READ_ONLY - SUPERUSERS_ONLY - {"creditlot", "priceversion"}
DELETED = EDITED - SINGLE - {"account", "endpoint"}
DEPENDED_ON = {"ciprovider", "project"}  # what belongs to them is deleted along, by its own right
ACTED_ON = {("revoke", "devicesession"), ("cancel", "sandboxrun"), ("send_again", "delivery"), ("send_again", "mail")}


@pytest.fixture(scope="module", autouse=True)
def _world(furnished_once: None) -> None:
    Group.objects.create(name="Clerks")
    Account.objects.create_user("did:web:studio.example:suspended", suspended_at=timezone.now())
    Organization.objects.create(
        id=new_id("org"), name="Held", suspended_at=timezone.now(), created_at=timezone.now(), changed_at=timezone.now()
    )
    Upstream.objects.create(name="next", adapter="openai", api_key=ONE_KEY, next_api_key=OTHER_KEY)
    Upstream.objects.create(name="old", adapter="openai", api_key=ONE_KEY, previous_api_key=OTHER_KEY)
    Upstream.objects.update(out_of_turn_at=timezone.now())  # so that an operator can decide about it
    Alias.objects.create(name="closed", enabled=False)
    signed_in["clerk"] = clerk().cookies[settings.SESSION_COOKIE_NAME].value
    pages.cache_clear()


signed_in: dict[str, str] = {}
"""The session of the operator whom each test gives other rights."""

UPSTREAMS: dict[str, dict[str, Any]] = {
    "next-key": {"previous_api_key": "", "next_api_key": ""},
    "switch-key": {"name": "next"},
    "remove-key": {"name": "next"},
    "switch-back": {"name": "old"},
}


def opens(name: str, kind: str, method: str, rights: set[str]) -> bool:
    """Return whether a page of a table opens to somebody who has these rights to it."""
    match kind:
        case "" | "history" | "export":
            return bool(rights & {"view", "change"})
        case "change":
            return bool(rights & {"view", "change"}) if method == "GET" else "change" in rights and name in EDITED
        case "add":
            return "add" in rights and name in ADDED and (name != "account" or "change" in rights)
        case "delete":
            return "delete" in rights and name in DELETED and (method == "GET" or name not in DEPENDED_ON)
        case "calculator":
            return "view" in rights or "change" in rights
        case "try":
            return "change" in rights and name == "rawmodel"  # of an alias: it needs the right to change deployments
        case "rotate" | "new":
            return False
        case "suspend" | "unsuspend" if name == "organization":
            return False  # it has a right of its own
        case "test_assertion":
            return "view" in rights
    return "change" in rights  # a password, and what is decided about a call or a checkout


@cache
def pages(table: tuple[str, str]) -> list[tuple[str, str]]:
    """List kind and address of each of the table's pages, for a row that is there."""
    return list(_pages(table, reverse("admin:{}_{}_changelist".format(*table))))


def _pages(table: tuple[str, str], root: str) -> Iterator[tuple[str, str]]:
    for template in templates():
        kind = template.removeprefix(root).strip("/")
        if template.startswith(root) and kind != "{object_id}":  # the last leads on to "change", whoever asks
            row = row_of(table, kind.rpartition("/")[2])
            yield kind.rpartition("/")[2], template.replace("{object_id}", str(row.pk)).replace("{id}", str(row.pk))


def row_of(table: tuple[str, str], kind: str = "") -> Any:
    """Return a row; of those that an operator decides about, one that waits for this decision."""
    waiting: dict[str, dict[str, Any]] = {
        "call": {"state": "review"},
        "journalfolder": {"host": "node-7"},  # not that of a gateway of this process
        "autotopup": {"paused_at__isnull": kind != "resume"},
        "autotopupcharge": {"status": "review"},
        "checkout": {"status": "review"},
        "invoice": {"status": "paid" if kind in ("credit", "record_refund") else "past_due"},
        "account": {"suspended_at__isnull": kind != "unsuspend"},
        "organization": {"suspended_at__isnull": kind != "unsuspend"},
        "priceproposal": {"is_beyond_bounds": kind == "accept_beyond_bounds"},
        "alias": {"enabled": kind != "open"},
        "upstream": UPSTREAMS.get(kind, {}),
    }
    return rows(table).filter(**waiting.get(table[1], {})).first()


def rows(table: tuple[str, str]) -> Any:
    return apps.get_model(*table)._default_manager.order_by("pk")


def somebody(table: tuple[str, str], *rights: str) -> Client:
    return operator(Permission.objects.filter(codename__in=[f"{right}_{table[1]}" for right in rights]))


def everybody_else(table: tuple[str, str]) -> Client:
    return operator(others(table))


def others(table: tuple[str, str]) -> QuerySet[Permission]:
    return Permission.objects.exclude(content_type__model=table[1])


def operator(rights: QuerySet[Permission]) -> Client:
    """Set the rights of the operator who is signed in to these, until the test's end."""
    given: Any = Account.user_permissions.through
    account = Account.objects.get(did="did:web:localhost:clerk")
    given.objects.filter(account=account).delete()
    ids = rights.order_by().values_list("pk", flat=True)
    given.objects.bulk_create([given(account=account, permission_id=each) for each in ids])
    client = Client(raise_request_exception=False)
    client.cookies[settings.SESSION_COOKIE_NAME] = signed_in["clerk"]
    return client


class Undoing:
    """Undoes what happens in a context, time and again; then tells whether a row of the table, or the log, was another.

    Where nothing was sent to the database there is nothing to undo, so most refusals cost no statement.
    """

    def __init__(self, table: tuple[str, str]) -> None:
        self._table, self._before = table, state(table)
        self._beginning = transaction.savepoint()

    @contextmanager
    def __call__(self) -> Iterator[list[bool]]:
        """Yield a list whose one member tells it afterwards."""
        changed, statements = [False], list[str]()

        def note(execute: Any, sql: str, *rest: Any) -> Any:
            statements.append(sql)
            return execute(sql, *rest)

        with connection.execute_wrapper(note):
            yield changed
        if statements:
            changed[0] = self.is_changed
            transaction.savepoint_rollback(self._beginning)

    @property
    def is_changed(self) -> bool:
        """Return whether the table and the log are other than they were."""
        return bool(state(self._table) != self._before)


def state(table: tuple[str, str]) -> Any:
    """Return what is in the table, and how long the log is."""
    name = connection.ops.quote_name(apps.get_model(*table)._meta.db_table)
    with connection.cursor() as cursor:
        cursor.execute(
            f"SELECT md5(string_agg(kept::text, E'\\n' ORDER BY kept::text)), (SELECT count(*) FROM django_admin_log)"
            f"  FROM {name} AS kept"
        )
        return cursor.fetchone()


def show_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Render no page: nobody looks at it, and this takes longest."""
    monkeypatch.setattr(TemplateResponse, "rendered_content", "")
    monkeypatch.setattr(ConsoleSite, "each_context", lambda site, request: {})


@contextmanager
def shown_once(kind: str, method: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Render no list and no history for a POST: it is the page that a GET just showed."""
    with monkeypatch.context() as patch:
        if method == "POST" and kind in ("", "history"):
            show_nothing(patch)
        yield


@pytest.mark.usefixtures("unrecorded_pages", "unframed_pages")
@pytest.mark.parametrize("right", [*RIGHTS, None])
@pytest.mark.parametrize("table", TABLES, ids=".".join)
def test_a_page_opens_only_by_its_own_right(
    table: tuple[str, str], right: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    show_only(monkeypatch, table)
    client = somebody(table, right) if right else everybody_else(table)
    undone, found, expected = Undoing(table), {}, {}
    for kind, path in pages(table):
        for method in ("GET", "POST"):
            with undone() as changed, shown_once(kind, method, monkeypatch):
                status = client.generic(method, path, FORM, content_type=FORM_TYPE).status_code
            is_open = opens(table[1], kind, method, {right} if right else set())
            assert is_open or not changed[0], (kind, method)
            found[kind, method], expected[kind, method] = status in (200, 303), is_open
            assert status in ((200, 303) if is_open else (403, 404)), (kind, method, status)
    assert found == expected
    assert len(found) >= 10
    assert not undone.is_changed


@pytest.mark.usefixtures("unrecorded_pages")
@pytest.mark.parametrize("table", TABLES, ids=".".join)
def test_whether_a_row_exists_is_not_shown_without_rights(table: tuple[str, str]) -> None:
    stranger = everybody_else(table)
    row = row_of(table)
    for kind, path in pages(table):
        missing = path.replace(f"/{row.pk}/", f"/{'9' * 6 if str(row.pk).isdigit() else 'no_such_row'}/")
        there, nowhere = stranger.get(path), stranger.get(missing)
        assert (there.status_code, there.headers.get("Location")) == (
            nowhere.status_code,
            nowhere.headers.get("Location"),
        ), kind


def actions_of(table: tuple[str, str]) -> list[str]:
    """Name each action that the table's page has in any place, the one that every list has, and one that no page has."""
    page: Any = admin.site._registry[apps.get_model(*table)]
    own = {getattr(each, "__name__", each) for each in page.actions or ()}
    return sorted({*own, *(name for name in ACTIONS if hasattr(page, name)), "delete_selected", "no_such_action"})


@pytest.mark.parametrize("right", RIGHTS)
@pytest.mark.parametrize("table", TABLES, ids=".".join)
def test_an_action_that_the_page_does_not_show_does_nothing(
    table: tuple[str, str], right: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    show_nothing(monkeypatch)
    client, keys = somebody(table, right), list(rows(table).values_list("pk", flat=True))
    undone, path = Undoing(table), reverse("admin:{}_{}_changelist".format(*table))
    for action in actions_of(table):
        with undone() as changed:
            sent = {"action": action, "_selected_action": keys, "select_across": "1", "index": "0", **ANSWER}
            client.generic("POST", path, urlencode(sent, doseq=True), content_type=FORM_TYPE)
        may = right == "change" and (action, table[1]) in ACTED_ON
        assert may or not changed[0], action
    assert not undone.is_changed


@pytest.mark.usefixtures("unrecorded_pages", "unframed_pages")
@pytest.mark.parametrize("table", TABLES, ids=".".join)
def test_whoever_may_only_look_reads_no_secret(table: tuple[str, str]) -> None:
    """The library shows every field as text to whoever may not change it."""
    viewer = somebody(table, "view")
    alice = Account.objects.get(did=ALICE)
    alice.set_password("a password")
    alice.save()
    hidden = (*SECRETS, *alice.password.split("$")[1:], UserSession.objects.earliest("pk").session_key)
    paths = [reverse("admin:{}_{}_change".format(*table), args=[row.pk]) for row in rows(table)]
    for path in (reverse("admin:{}_{}_changelist".format(*table)), *paths):
        page = viewer.get(path).content.decode()
        assert not [secret for secret in hidden if secret in page], path
    assert paths


INLINES = [
    (each.opts.app_label, str(each.opts.model_name), inline.model._meta.label_lower)
    for each in admin.site._registry.values()
    for inline in getattr(each, "inlines", ())
]


@pytest.mark.parametrize(("app", "name", "inline"), INLINES)
def test_rows_below_another_row_are_shown_only_by_their_own_right(app: str, name: str, inline: str) -> None:
    label, _, below = inline.partition(".")
    path = reverse(f"admin:{app}_{name}_change", args=[row_of((app, name)).pk])
    without = everybody_else((label, below)).get(path)
    assert shown(without) == set(shown(without)) - {inline}
    assert inline in shown(clerk(f"view_{name}", f"view_{below}", name="viewer").get(path))


def shown(page: Any) -> set[str]:
    assert page.status_code == 200
    return {each.opts.model._meta.label_lower for each in page.context["inline_admin_formsets"]}


RELATIONS = [
    (field.model._meta.app_label, str(field.model._meta.model_name), field.name, field.related_model)
    for model in apps.get_models()
    for field in model._meta.get_fields()
    if isinstance(field, models.ForeignKey | models.ManyToManyField) and field.related_model in admin.site._registry
]


@pytest.mark.usefixtures("unrecorded_pages")
def test_rows_are_offered_for_a_relation_by_the_right_to_see_them() -> None:
    targets = {target for *_, target in RELATIONS}
    for target in targets:
        table = (target._meta.app_label, str(target._meta.model_name))
        relations = [(app, name, field) for app, name, field, to in RELATIONS if to is target]
        with transaction.atomic():
            blind = clerk(
                *others(table).values_list("codename", flat=True), name="blind"
            )  # a new one: rights are remembered
            assert {offered(blind, *each) for each in relations} == {403}
            transaction.set_rollback(True)
    assert len(targets) > 5


def offered(client: Client, app: str, name: str, field: str) -> int:
    query = {"app_label": app, "model_name": name, "field_name": field, "term": ""}
    return int(client.get("/admin/autocomplete/", query).status_code)
