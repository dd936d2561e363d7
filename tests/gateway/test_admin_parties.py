"""People and organizations in the console: shown by name and email with the DID second, and found by any of these."""

import re
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from accounts.models import Account
from billing.models import Wallet
from organizations.models import Organization
from tests.gateway.console import ALICE, make_call
from tests.gateway.operators import address, clerk, show_only

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("untracked")]

NAME, EMAIL = "Alice Miller", "alice@studio.example"
SHOWN = f"{NAME} ({EMAIL})"
PEOPLE = (
    "accounts_devicesession",
    "account_emailaddress",
    "admin_logentry",
    "billing_autotopup",
    "billing_autotopupcharge",
    "billing_budget",
    "billing_checkout",
    "billing_creditlot",
    "billing_loss",
    "billing_lostreceipt",
    "billing_call",
    "billing_transfer",
    "billing_usagerecord",
    "billing_wallet",
    "billing_externalmapping",
    "mfa_authenticator",
    "organizations_auditentry",
    "organizations_seat",
    "socialaccount_socialaccount",
    "usersessions_usersession",
)
"""The tables with a row of Alice's."""


@pytest.fixture(scope="module", autouse=True)
def _named(furnished_once: None) -> None:
    Account.objects.filter(did=ALICE).update(display_name=NAME, email=EMAIL)


def searched(operator: Client, table: str, text: str) -> Any:
    return operator.get(address(f"{table}_changelist"), {"q": text})


@pytest.mark.parametrize("table", PEOPLE)
def test_a_person_is_found_in_every_table_and_shown_by_name(
    operator: Client, table: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    app, _, name = table.partition("_")
    show_only(monkeypatch, (app, name))
    for text in (NAME, "miller", EMAIL, "ALICE@studio", ALICE):
        found = searched(operator, table, text)
        assert len(found.context["cl"].result_list) > 0, text
        page = found.content.decode()
        assert SHOWN in page
        assert page.index(SHOWN) < page.index(f">{ALICE}<")
    Account.objects.create_user("did:web:studio.example:carol", "carol@studio.example", display_name="Carol")
    assert len(searched(operator, table, "carol@studio.example").context["cl"].result_list) == 0


@pytest.mark.parametrize("table", ["organizations_seat", "organizations_auditentry"])
@pytest.mark.parametrize("part", ["name", "id"])
def test_an_organization_is_found_by_name_and_id(operator: Client, table: str, part: str) -> None:
    organization = Organization.objects.get()
    found = searched(operator, table, getattr(organization, part))
    assert len(found.context["cl"].result_list) > 0
    assert organization.name in found.content.decode()


@pytest.mark.parametrize("text", [NAME, EMAIL, ALICE, "Studio people"])
def test_an_organization_is_found_by_its_name_and_its_members(operator: Client, text: str) -> None:
    assert len(searched(operator, "organizations_organization", text).context["cl"].result_list) == 1


def test_what_nobody_knows_is_shown_by_its_key(operator: Client) -> None:
    wallet = Wallet.objects.create(id="wal_of_nobody", owner_kind="organization", owner_key="org_of_nobody")
    assert b"org_of_nobody" in searched(operator, "billing_wallet", wallet.pk).content


def test_a_longer_list_looks_people_up_at_once(operator: Client) -> None:
    page = address("billing_call_changelist")
    operator.get(page)
    with CaptureQueriesContext(connection) as before:
        operator.get(page)
    for _ in range(3):
        make_call()
    with CaptureQueriesContext(connection) as after:
        operator.get(page)
    assert len(after) == len(before)


def test_a_name_with_markup_is_text(operator: Client) -> None:
    Account.objects.filter(did=ALICE).update(display_name="<b>Alice</b>")
    assert b"<b>Alice</b>" not in searched(operator, "billing_call", ALICE).content


def links_of(page: Any) -> dict[str, str]:
    return {
        title: href
        for href, title in re.findall(r'<a class="underline" href="([^"]+)">([^<]+)</a>', page.content.decode())
    }


def test_the_account_page_links_its_wallet_calls_and_organizations(operator: Client) -> None:
    links = links_of(operator.get(address("accounts_account_change", Account.objects.get(did=ALICE).pk)))
    assert {"Wallet", "Credits", "Calls", "Usage", "Checkouts", "Organizations", "Devices"} <= set(links)
    assert operator.get(links.pop("Everything at a glance")).status_code == 200
    for title, href in links.items():
        assert len(operator.get(href).context["cl"].result_list) > 0, title


def test_the_pages_of_a_wallet_and_an_organization_lead_to_what_is_theirs(operator: Client) -> None:
    organization, wallet = Organization.objects.get(), Wallet.objects.get(owner_key=ALICE)
    of_wallet = links_of(operator.get(address("billing_wallet_change", wallet.pk)))
    assert {SHOWN, "Calls", "Usage", "Ledger"} <= set(of_wallet)
    assert of_wallet[SHOWN] == address("accounts_account_change", Account.objects.get(did=ALICE).pk)
    of_organization = links_of(operator.get(address("organizations_organization_change", organization.pk)))
    assert len(operator.get(of_organization["Audit log"]).context["cl"].result_list) > 0


def test_a_person_is_offered_for_a_relation_by_name_email_and_did() -> None:
    query = {"app_label": "accounts", "model_name": "devicesession", "field_name": "account", "term": "miller"}
    offered = clerk("view_account").get("/admin/autocomplete/", query).json()["results"]
    assert [each["text"] for each in offered] == [f"{SHOWN} · {ALICE}"]
