"""The matrix of operators' roles: what each may do on each page of the console, and what each action leaves in the log.

Pages and actions are read from the console itself, so one that is new needs a place here.
"""

from collections.abc import Iterator
from typing import Any
from urllib.parse import urlencode

import pytest
from django.apps import apps
from django.conf import settings
from django.contrib import admin
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import Group
from django.template.response import TemplateResponse
from django.test import Client
from django.urls import reverse

from accounts.models import Account, OperatorRole
from accounts.operations import operator_roles
from accounts.rules.operator_roles import ADMIN, FINANCE, GIVEN, NAMES, SUPPORT, VIEWER
from gateway.core.console import ListReasonForm, ReasonField
from gateway.core.contract.ids import new_id
from gateway.operator_roles import keep
from gateway.site import ConsoleSite
from tests.gateway.operators import superuser
from tests.gateway.test_admin import TABLES
from tests.gateway.test_admin_rights import ANSWER, FORM_TYPE, Undoing, _world, row_of, rows  # noqa: F401
from tests.support.event_receiver import SECRET

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("untracked", "unrecorded_pages")]

Table = tuple[str, str]
EVERYBODY = frozenset(NAMES)
NOBODY = frozenset[str]()
ADMINS = frozenset({ADMIN})
SUPPORTS = frozenset({SUPPORT, ADMIN})
FINANCES = frozenset({FINANCE, ADMIN})

ACTIONS = {
    "accounts.account": {"end_sessions": SUPPORTS, "suspend": SUPPORTS, "unsuspend": SUPPORTS, "close": ADMINS},
    "accounts.devicesession": {"end": SUPPORTS, "revoke": SUPPORTS},
    "accounts.receiptkey": {"rotate": NOBODY},
    "accounts.signingkey": {"rotate": NOBODY},
    "accounts.integration": {"test_assertion": EVERYBODY, "upload_keys": ADMINS},
    "billing.autotopup": {"pause": FINANCES, "resume": FINANCES},
    "billing.autotopupcharge": {"dismiss": FINANCES},
    "billing.budget": {"raise_limit": SUPPORTS | FINANCES},
    "billing.call": {"charge": FINANCES, "release": FINANCES},
    "billing.checkout": {"ask_again": FINANCES, "credit": FINANCES, "dismiss": FINANCES},
    "billing.invoice": {"charge_again": FINANCES, "credit": FINANCES, "record_refund": FINANCES, "void": FINANCES},
    "billing.lostreceipt": {"charged": FINANCES, "written_off": FINANCES},
    "billing.paymentdifference": {"resolve": FINANCES},
    "events.delivery": {"send_one_again": SUPPORTS, "send_again": SUPPORTS},
    "events.endpoint": {"send_test": ADMINS, "rotate_secret": ADMINS},
    "events.mail": {"send_one_again": SUPPORTS, "send_again": SUPPORTS},
    "inference.alias": {"new_model": ADMINS, "open_model": ADMINS, "try_it": ADMINS, "calculator": EVERYBODY},
    "inference.journalfolder": {"forget": FINANCES},
    "inference.priceproposal": {"accept": FINANCES, "accept_beyond_bounds": FINANCES, "dismiss": FINANCES},
    "inference.rawmodel": {"try_it": ADMINS, "calculator": EVERYBODY},
    "inference.upstream": {
        **dict.fromkeys(("add_key", "switch_key", "switch_back", "remove_key"), ADMINS),
        "reuse": ADMINS,
    },
    "integrations.sandboxrun": {"cancel": ADMINS},
    "organizations.organization": {"suspend": SUPPORTS, "unsuspend": SUPPORTS},
}
"""Who may do what is not an ordinary form, by table. Only an operator with every right may do what NOBODY may."""

PAGES = {
    "accounts.account": {"password": ADMINS},
    "billing.call": {"export": EVERYBODY},
    "billing.marginday": {"export": EVERYBODY},
}
"""Other pages of a table."""

FORMS = {"billing.creditlot": {"add": SUPPORTS | FINANCES}, "billing.priceversion": {"add": FINANCES}}
"""The ordinary forms (add, change, delete) that others than the role admin have."""

OWN_PAGES = {
    *(("integration", name) for name in ("test_assertion", "upload_keys")),
    *(("alias", name) for name in ("new_model", "try_it", "calculator")),
    *(("rawmodel", name) for name in ("try_it", "calculator")),
}
"""Actions with a page of their own: test_admin_integrations, test_admin_new_model, test_admin_calculator and test_trials have what
they ask for and log."""

OF_OTHER_ROWS = {("alias", "open_model"), *(("upstream", name) for name in ("switch_key", "switch_back", "remove_key"))}
"""Actions of a closed model and of an upstream with a second key: test_admin_new_model and test_admin_upstreams have them, and what they log."""

SUPERUSERS_OWN = {"auth.group", "mfa.authenticator"}
OF_PROVIDER = {("checkout", "ask_again"), ("checkout", "credit"), ("invoice", "charge_again")}
"""Actions that succeed only with a payment provider: test_admin_payments and test_admin_invoices have them, and what they log."""

MORE = {"accept_beyond_bounds": {"confirmed": "on"}, "rotate_secret": {"secret": SECRET}}
MORE |= {kind: {"key": new_id("cn")} for kind in ("credit", "record_refund")}
MORE |= {"add_key": {"next_key": "sk-next"}, "raise_limit": {"amount": "6", "seen": "5000000"}}
"""What these forms ask for beside ANSWER."""


@pytest.fixture(scope="module", autouse=True)
def _operators(_world: None) -> None:  # noqa: F811
    """Sign an operator in for each role, once for all tests."""
    keep()
    for role in NAMES:
        account = Account.objects.create_user(f"did:web:localhost:{role}", None, "x", is_staff=True)
        operator_roles.give(account, role)
        client = Client()
        client.force_login(account, backend="django.contrib.auth.backends.ModelBackend")
        signed_in[role] = client.cookies[settings.SESSION_COOKIE_NAME].value


signed_in: dict[str, str] = {}
"""The session of each role's operator."""


@pytest.fixture
def unrendered(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody looks at the pages, which take longest."""
    monkeypatch.setattr(TemplateResponse, "rendered_content", "")
    monkeypatch.setattr(ConsoleSite, "each_context", lambda site, request: {})


def operator(role: str) -> Client:
    client = Client(raise_request_exception=False)
    client.cookies[settings.SESSION_COOKIE_NAME] = signed_in[role]
    return client


def name_of(table: Table) -> str:
    return ".".join(table)


def page_of(table: Table) -> Any:
    """Return the console's class for a table; the library's stubs do not know its actions."""
    return admin.site._registry[apps.get_model(*table)]


def actions_of(table: Table) -> set[str]:
    """Name every action of a table: above its list, above a row, in a row, below a form, and of selected rows."""
    each = page_of(table)
    named = (*each.actions_list, *each.actions_detail, *each.actions_row, *each.actions_submit_line)
    assert all(isinstance(name, str) for name in named), "a menu of actions needs a place in the matrix"
    return {*named, *(getattr(one, "__name__", one) for one in each.actions or ())}


def other_pages_of(table: Table) -> set[str]:
    """Name every page of a table that is neither an ordinary one nor an action."""
    each = admin.site._registry[apps.get_model(*table)]
    routes = {str(one.pattern).strip("/").rpartition("/")[2] for one in each.get_urls()}
    ordinary = {"", "add", "change", "delete", "history", "<path:object_id>"}
    return routes - ordinary - {getattr(getattr(each, name), "url_path", name) for name in actions_of(table)}


def test_every_action_and_page_has_its_place() -> None:
    assert {name_of(table): actions_of(table) for table in TABLES if actions_of(table)} == {
        table: set(actions) for table, actions in ACTIONS.items()
    }
    assert {name_of(table): other_pages_of(table) for table in TABLES if other_pages_of(table)} == {
        table: set(pages) for table, pages in PAGES.items()
    }


def test_every_action_asks_for_a_reason() -> None:
    for table in TABLES:
        each = admin.site._registry[apps.get_model(*table)]
        for name in {name for name in actions_of(table) if (table[1], name) not in OWN_PAGES}:
            shown = getattr(getattr(each, name), "dialog", None)
            form = shown.get("form_class") if shown else each.action_form
            fields = getattr(form, "base_fields", {})
            assert isinstance(fields.get("reason"), ReasonField), (table, name)
            assert shown or issubclass(form, ListReasonForm), (table, name)


def attempts(table: Table) -> Iterator[tuple[str, str, str, frozenset[str]]]:
    """Yield kind, method and address of each thing that somebody could do, and the roles that may."""
    label, root = name_of(table), reverse("admin:{}_{}_changelist".format(*table))
    for kind in ("", "history", "change"):
        yield kind, "GET", address(root, table, kind), EVERYBODY
    for kind in ("add", "change", "delete"):
        usual = NOBODY if label in SUPERUSERS_OWN else ADMINS
        allowed = FORMS.get(label, {}).get(kind, usual)
        yield kind, "POST", address(root, table, kind), allowed
    for kind, allowed in PAGES.get(label, {}).items():
        yield kind, "GET", address(root, table, kind), allowed
    for kind, allowed in ACTIONS.get(label, {}).items():
        if is_dialog(table, kind):
            yield kind, "POST", address(root, table, kind), allowed
        else:
            yield kind, "LIST", root, allowed


def address(root: str, table: Table, kind: str) -> str:
    each = page_of(table)
    of_list = kind in ("", "add", "export") or kind in each.actions_list
    word = getattr(getattr(each, kind, None), "url_path", "") or kind
    place = f"{root}{word}/" if kind else root
    return place if of_list else f"{root}{row_of(table, kind).pk}/{word}/"


def is_dialog(table: Table, kind: str) -> bool:
    return kind not in [getattr(one, "__name__", one) for one in page_of(table).actions or ()]


def sent(client: Client, table: Table, kind: str, method: str, path: str, **form: str) -> Any:
    form = {**ANSWER, **form}
    if method == "LIST":
        selected = {"action": kind, "_selected_action": [row.pk for row in rows(table)], "index": "0"}
        return client.generic("POST", path, urlencode({**form, **selected}, doseq=True), content_type=FORM_TYPE)
    return client.generic(method, path, urlencode(form), content_type=FORM_TYPE)


@pytest.mark.usefixtures(
    "unrendered", "unkept_messages", "remembered_rights", "remembered_sign_ins", "remembered_refusals"
)
@pytest.mark.parametrize("table", TABLES, ids=".".join)
def test_each_role_does_what_the_matrix_says_and_nothing_else(table: Table) -> None:
    clients: dict[str | None, Client] = {None: superuser()}
    clients |= {role: operator(role) for role in NAMES}
    undone = Undoing(table)
    found, expected = dict[tuple[str, str], set[str]](), dict[tuple[str, str], set[str]]()
    for kind, method, path, allowed in attempts(table):
        statuses = {}
        for role, client in clients.items():
            with undone() as changed:
                status = sent(client, table, kind, method, path).status_code
            statuses[role] = changed[0] if method == "LIST" else status in (200, 302, 303)
            assert role in allowed or role is None or not changed[0], (kind, role)
        # Where not even an operator with every right gets anywhere, there is no such form.
        possible = statuses.pop(None)
        found[method, kind] = {role for role, opened in statuses.items() if role and opened}
        expected[method, kind] = set(allowed) if possible else set()
    assert found == expected


@pytest.mark.usefixtures("unrendered", "remembered_rights")
@pytest.mark.parametrize("table", [table for table in TABLES if name_of(table) in ACTIONS], ids=".".join)
def test_each_action_leaves_an_entry_with_its_reason(table: Table) -> None:
    client, root = superuser(), reverse("admin:{}_{}_changelist".format(*table))
    undone = Undoing(table)
    for kind in sorted(
        each for each in actions_of(table) if (table[1], each) not in OF_PROVIDER | OF_OTHER_ROWS | OWN_PAGES
    ):
        method = "POST" if is_dialog(table, kind) else "LIST"
        with undone() as changed:
            if kind == "close":  # Alice's calls are open, so her account is not closed
                path = f"{root}{Account.objects.create_user('did:web:studio.example:zoe').pk}/close/"
            else:
                path = address(root, table, kind) if method == "POST" else root
            newest = LogEntry.objects.order_by("-pk").values_list("pk", flat=True).first() or 0
            answer = sent(client, table, kind, method, path, **MORE.get(kind, {}))
            entries = LogEntry.objects.filter(pk__gt=newest, user__did="did:web:localhost:operator")
            assert entries, (kind, answer.status_code, answer.content[:3000])
            assert any(entry.change_message.rstrip().endswith(": r") for entry in entries), kind
        assert changed[0], kind


@pytest.mark.usefixtures("unrendered")
def test_an_action_of_selected_rows_without_a_reason_does_nothing() -> None:
    client = superuser()
    for table in (("accounts", "devicesession"), ("events", "mail")):
        undone = Undoing(table)
        [kind] = [name for name in actions_of(table) if not is_dialog(table, name)]
        root = reverse("admin:{}_{}_changelist".format(*table))
        for reason in ("", "two\nlines", "x" * 201):
            with undone() as changed:
                sent(client, table, kind, "LIST", root, reason=reason)
            assert not changed[0], (table, reason)


class TestReadyGroups:
    def test_are_there_after_a_migrate(self) -> None:
        names = dict(OperatorRole.objects.values_list("name", "group__name"))
        assert names == {VIEWER: "Viewer", SUPPORT: "Support", FINANCE: "Finance", ADMIN: "Admin"}

    def test_have_exactly_their_rights(self) -> None:
        given = {role: rights_of(Group.objects.get(role__name=role)) for role in NAMES}
        seen = given[VIEWER]
        assert all(".view_" in right for right in seen)
        assert {f"{app}.view_{name}" for app, name in TABLES} <= seen
        assert given[SUPPORT] - seen == GIVEN[SUPPORT]
        assert given[FINANCE] - seen == GIVEN[FINANCE]
        assert given[ADMIN] > seen | GIVEN[SUPPORT] | GIVEN[FINANCE]
        assert not {right for right in given[ADMIN] if right.startswith("auth.") and "view" not in right}

    def test_are_kept_as_they_are_meant_and_once(self) -> None:
        before = {role: rights_of(Group.objects.get(role__name=role)) for role in NAMES}
        support, admins = Group.objects.get(role__name=SUPPORT), Group.objects.get(role__name=ADMIN)
        support.permissions.add(*admins.permissions.all())
        admins.permissions.clear()
        Group.objects.get(role__name=FINANCE).delete()
        keep()
        keep()
        assert {role: rights_of(Group.objects.get(role__name=role)) for role in NAMES} == before
        assert OperatorRole.objects.count() == 4

    def test_leave_an_operators_own_groups_alone(self) -> None:
        Group.objects.filter(role__isnull=False).delete()
        own = Group.objects.create(name="Support")
        keep()
        own.refresh_from_db()
        assert (own.name, own.permissions.count(), hasattr(own, "role")) == ("Support", 0, False)
        assert Group.objects.get(role__name=SUPPORT).name == "Support (ready role)"

    def test_are_changed_and_deleted_by_nobody(self) -> None:
        client, support = superuser(), Group.objects.get(role__name=SUPPORT)
        before = rights_of(support)
        for kind in ("change", "delete"):
            path = reverse(f"admin:auth_group_{kind}", args=[support.pk])
            assert client.post(path, {"name": "Mine", "post": "yes"}).status_code == 403
        path, selected = reverse("admin:auth_group_changelist"), {"_selected_action": support.pk, "post": "yes"}
        assert client.post(path, {"action": "delete_selected", **selected}).status_code == 403
        support.refresh_from_db()
        assert (support.name, rights_of(support)) == ("Support", before)
        page = client.get(reverse("admin:auth_group_change", args=[support.pk])).content.decode()
        assert "A ready group: it acts on customers" in page


def rights_of(group: Group) -> set[str]:
    return {f"{one.content_type.app_label}.{one.codename}" for one in group.permissions.select_related("content_type")}


def test_giving_a_role_takes_the_other_ones_and_no_own_group() -> None:
    account, own = Account.objects.create_user("did:web:localhost:op"), Group.objects.create(name="Clerks too")
    account.groups.add(own)
    assert operator_roles.give(account, SUPPORT)
    assert operator_roles.give(account, VIEWER)
    assert not operator_roles.give(account, VIEWER)
    assert set(account.groups.values_list("name", flat=True)) == {"Viewer", "Clerks too"}


def test_the_list_of_accounts_shows_what_operators_may_do() -> None:
    client = superuser()
    page = client.get(reverse("admin:accounts_account_changelist"), {"is_staff__exact": "1"}).content.decode()
    assert "every right" in page
    assert ">Support<" in page.replace("\n", "").replace(" ", "")
