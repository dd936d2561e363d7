"""The operator console: every page opens for an operator and for nobody else, and shows no secret."""

import re
from typing import Any

import pytest
from django.conf import settings
from django.contrib import admin
from django.contrib.admin.utils import quote
from django.contrib.auth.models import Permission
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from accounts.models import Account
from billing.models import Wallet
from tests.gateway.console import ALICE, CONTENT, make_call
from tests.gateway.operators import show_only, superuser
from tests.support.event_receiver import SECRET

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("furnished_once")]

SECRETS = (
    *("sk-primary-secret", "JBSWY3DPEHPK3PXP", "sk-literal-secret", "gAAAA", "BEGIN PRIVATE KEY", "BEGIN EC"),
    *(CONTENT, SECRET),
)
OURS = (
    "accounts",
    "billing",
    "events",
    "inference",
    "judgement",
    "auth",
    "account",
    "mfa",
    "socialaccount",
    "usersessions",
    "organizations",
    "jobs",
    "integrations",
    "telemetry",
    "admin",
)
TABLES = sorted(
    (model._meta.app_label, str(model._meta.model_name))
    for model in admin.site._registry
    if model._meta.app_label in OURS
)
LIST_QUERIES_MAX = 16  # of them two for the badges of the navigation


@pytest.fixture(scope="module")
def session(furnished_once: None) -> str:
    """The session of an operator with every right, who is signed in once for all tests."""
    return str(superuser().cookies[settings.SESSION_COOKIE_NAME].value)


@pytest.fixture
def operator(session: str, db: None) -> Client:
    client = Client(raise_request_exception=False)
    client.cookies[settings.SESSION_COOKIE_NAME] = session
    return client


def page(table: tuple[str, str], kind: str, *arguments: Any) -> str:
    return reverse(f"admin:{table[0]}_{table[1]}_{kind}", args=arguments)


def rows(table: tuple[str, str]) -> Any:
    from django.apps import apps

    return apps.get_model(*table)._default_manager


def test_every_table_of_the_apps_is_there() -> None:
    assert {f"{app}.{name}" for app, name in TABLES} == {
        *("accounts.account", "accounts.appearanceproduct", "accounts.devicesession", "accounts.integration"),
        "accounts.note",
        *("accounts.product", "accounts.publicclient", "accounts.receiptkey", "accounts.signingkey", "auth.group"),
        *("billing.budget", "billing.creditlot", "billing.loss", "billing.priceversion", "billing.call"),
        "billing.marginday",
        *("billing.transfer", "billing.usagerecord", "billing.wallet"),
        *(
            "billing.autotopup",
            "billing.autotopupcharge",
            "billing.checkout",
            "billing.externalmapping",
            "billing.invoice",
            "billing.limit",
            "billing.lostreceipt",
            "billing.paymentdifference",
            "billing.providerevent",
            "billing.seatprice",
        ),
        *("events.delivery", "events.endpoint", "events.mail"),
        *(
            "inference.alias",
            "inference.journalfolder",
            "inference.priceproposal",
            "inference.rawmodel",
            "inference.upstream",
        ),
        *("organizations.organization", "organizations.seat", "organizations.auditentry", "admin.logentry"),
        *(
            "integrations.ciprovider",
            "integrations.cirun",
            "integrations.evolutionjob",
            "integrations.evolutionprogram",
        ),
        *("integrations.accountkey", "integrations.evolutionartifact", "integrations.evolutionrevision"),
        *("integrations.integrationswitch", "integrations.project", "integrations.sandboxrun"),
        "integrations.sandboxsettings",
        *("jobs.jobrun", "telemetry.requesttrace"),
        *("judgement.answercount", "judgement.judgementfallback", "judgement.judgementsettings"),
        *("account.emailaddress", "mfa.authenticator", "socialaccount.socialaccount", "usersessions.usersession"),
    }


def assert_no_inline_script(content: bytes) -> None:
    """Check that a page has no script that the console's policy forbids."""
    scripts = re.findall(r"<script\b([^>]*)>", content.decode())
    assert not [script for script in scripts if "src=" not in script and "application/json" not in script]
    assert not re.search(r"<[^>]+\s(on[a-z]+|href=.?javascript:)=", content.decode())


def test_the_policy_of_the_console(operator: Client) -> None:
    for path in ("/admin/", "/admin/login/", "/admin/no/such/page", page(("auth", "group"), "changelist")):
        assert operator.get(path)["Content-Security-Policy"] == (
            "default-src 'none'; script-src 'self' 'unsafe-eval'; style-src 'self' 'unsafe-inline'; "
            "img-src 'self' data:; font-src 'self'; connect-src 'self'; base-uri 'none'; frame-ancestors 'none'; "
            "form-action 'self'"
        )


@pytest.mark.usefixtures("unrecorded_pages")
@pytest.mark.parametrize("table", TABLES, ids=".".join)
def test_every_list_opens_with_few_queries_and_no_secret(operator: Client, table: tuple[str, str]) -> None:
    with CaptureQueriesContext(
        connection,
    ) as queries:
        response = operator.get(page(table, "changelist"))
    assert response.status_code == 200
    assert len(queries) <= LIST_QUERIES_MAX
    assert_no_secret(response.content)
    assert_no_inline_script(response.content)

    searched = operator.get(page(table, "changelist"), {"q": "alice"})
    assert searched.status_code == 200


def test_a_longer_list_takes_no_more_queries(operator: Client) -> None:
    table = ("billing", "call")
    operator.get(page(table, "changelist"))
    with CaptureQueriesContext(connection) as before:
        operator.get(page(table, "changelist"))
    for _ in range(5):
        make_call()
    with CaptureQueriesContext(connection) as after:
        operator.get(page(table, "changelist"))
    assert len(after) == len(before)


@pytest.mark.usefixtures("untracked", "remembered_sign_ins", "unrecorded_pages", "unframed_pages")
@pytest.mark.parametrize("table", TABLES, ids=".".join)
def test_every_row_opens_and_shows_no_secret(
    operator: Client, table: tuple[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    show_only(monkeypatch, table)
    for row in rows(table).all():
        response = operator.get(page(table, "change", quote(row.pk)))
        assert response.status_code == 200
        assert_no_secret(response.content)
        assert_no_inline_script(response.content)
        assert operator.get(page(table, "history", quote(row.pk))).status_code == 200


def test_a_row_opens_whose_id_looks_quoted(operator: Client) -> None:
    wallet = Wallet.objects.create(id="wal_2340", owner_kind="account", owner_key="did:web:studio.example:carol")
    listed = operator.get(page(("billing", "wallet"), "changelist")).content.decode()
    link = page(("billing", "wallet"), "change", quote(wallet.pk))
    assert link in listed
    assert wallet.pk in operator.get(link).content.decode()


@pytest.mark.usefixtures("untracked", "unrecorded_pages", "unframed_pages")
@pytest.mark.parametrize("table", TABLES, ids=".".join)
def test_a_row_can_be_added_by_hand_only_where_a_person_decides(
    operator: Client, table: tuple[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    show_only(monkeypatch, table)
    expected = 403 if table[1] in READ_ONLY else 200
    if table[1] in ("judgementsettings", "sandboxsettings"):
        rows(table).all().delete()  # they have one row at most
    assert operator.get(page(table, "add")).status_code == expected


READ_ONLY = {
    *("accountkey", "autotopup", "autotopupcharge", "evolutionartifact", "evolutionrevision"),
    *("cirun", "evolutionjob", "sandboxrun", "checkout", "externalmapping", "invoice", "providerevent", "seatprice"),
    *(
        "answercount",
        "budget",
        "jobrun",
        "journalfolder",
        "requesttrace",
        "paymentdifference",
        "priceproposal",
        "delivery",
        "devicesession",
        "loss",
        "lostreceipt",
        "mail",
        "note",
        "call",
        "receiptkey",
        "marginday",
        "signingkey",
        "transfer",
        "usagerecord",
        "wallet",
    ),
    *(
        "authenticator",
        "emailaddress",
        "socialaccount",
        "usersession",
        "organization",
        "seat",
        "auditentry",
        "logentry",
    ),
}


@pytest.mark.usefixtures("untracked", "remembered_sign_ins", "remembered_refusals")
@pytest.mark.parametrize("table", TABLES, ids=".".join)
def test_money_keys_and_prices_are_never_edited_or_deleted(operator: Client, table: tuple[str, str]) -> None:
    if table[1] not in READ_ONLY - {"authenticator"} | {"creditlot", "priceversion"}:
        return
    for row in rows(table).all():
        before = rows(table).filter(pk=row.pk).values().get()
        assert operator.post(page(table, "change", row.pk), {"balance_microusd": 1}).status_code == 403
        assert operator.post(page(table, "delete", row.pk), {"post": "yes"}).status_code == 403
        assert rows(table).filter(pk=row.pk).values().get() == before


@pytest.mark.parametrize("table", TABLES, ids=".".join)
def test_a_stranger_is_sent_to_sign_in(table: tuple[str, str]) -> None:
    stranger = Client()
    for address in (page(table, "changelist"), page(table, "add"), reverse("admin:index")):
        response = stranger.get(address)
        assert (response.status_code, response["Location"]) == (302, f"/admin/login/?next={address}")


def test_an_account_that_is_no_operator_is_sent_to_sign_in() -> None:
    client = Client()
    client.force_login(Account.objects.get(did=ALICE))
    response = client.get(reverse("admin:index"))
    assert (response.status_code, response["Location"]) == (302, "/admin/login/?next=/admin/")


def test_an_operator_with_one_right_sees_one_table() -> None:
    account = Account.objects.create_user("did:web:localhost:clerk", "clerk@localhost", "x", is_staff=True)
    account.user_permissions.add(Permission.objects.get(codename="view_alias"))
    client = Client()
    client.force_login(account)
    assert client.get(reverse("admin:index")).status_code == 200
    assert client.get(page(("inference", "alias"), "changelist")).status_code == 200
    assert client.get(page(("inference", "alias"), "add")).status_code == 403
    assert client.get(page(("billing", "wallet"), "changelist")).status_code == 403
    assert b"Reconciling calls" not in client.get(reverse("admin:index")).content


def test_the_overview_shows_no_secret(operator: Client) -> None:
    response = operator.get(reverse("admin:index"))
    assert response.status_code == 200
    assert_no_secret(response.content)
    assert_no_inline_script(response.content)


@pytest.mark.parametrize("app", sorted({table[0] for table in TABLES}))
def test_the_page_of_an_app_opens(operator: Client, app: str) -> None:
    assert operator.get(reverse("admin:app_list", args=[app])).status_code == 200


def test_the_search_of_the_console_finds_tables(operator: Client) -> None:
    response = operator.get(reverse("admin:search"), {"s": "wallet"})
    assert (response.status_code, response["Location"]) == (302, page(("billing", "wallet"), "changelist"))


def assert_no_secret(content: bytes) -> None:
    text = content.decode()
    assert not [secret for secret in SECRETS if secret in text]
