"""The console's one search: everything that a support person has in hand leads to its page, and nobody finds what they may not view."""

import re
from typing import Any

import pytest
from allauth.account.models import EmailAddress
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from accounts.models import Account, DeviceSession, PublicClient
from billing.models import (
    AutoTopUpCharge,
    Budget,
    Call,
    Checkout,
    CreditLot,
    Invoice,
    InvoicePayment,
    ProviderEvent,
    Wallet,
)
from billing.queries import found
from gateway.core.contract.ids import new_id
from gateway.core.events.models import Delivery, Mail
from organizations.models import Invitation, Membership, Organization
from tests.factories.billing import Purse
from tests.gateway.console import ALICE, make_checkout
from tests.gateway.operators import address, clerk

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("furnished_once", "untracked")]


def search(operator: Client, text: str, **query: str) -> Any:
    return operator.get(address("search"), {"s": text, **query})


def shown(operator: Client, text: str) -> list[tuple[str, str]]:
    """Return the kind and the page of each hit, as the box lists them."""
    page = search(operator, text, extended="1")
    assert page.status_code == 200
    return [(result.hit.kind, result.hit.page) for result in page.context["results"]]


def account_page() -> str:
    return address("customers_account", Account.objects.get(did=ALICE).pk)


def organization_page() -> str:
    return address("customers_organization", Organization.objects.get(name="Studio people").pk)


@pytest.mark.parametrize("text", ["alice@studio.example", " ALICE@Studio.Example ", ALICE, "Alice Mi", "alice miller"])
def test_a_person_is_found_by_each_name(operator: Client, text: str) -> None:
    Account.objects.filter(did=ALICE).update(display_name="Alice Miller")
    assert shown(operator, text) == [("Account", account_page())]
    answer = search(operator, text)
    assert (answer.status_code, answer["Location"]) == (302, account_page())


def test_the_page_of_a_single_hit_opens(operator: Client) -> None:
    assert operator.get(account_page()).status_code == 200
    assert operator.get(organization_page()).status_code == 200


def test_an_address_that_was_removed_leads_to_the_account_that_was_told_there(operator: Client) -> None:
    Mail.objects.update(to="Old@example.com")
    EmailAddress.objects.all().delete()
    [result] = search(operator, "old@EXAMPLE.com", extended="1").context["results"]
    assert (result.hit.kind, result.hit.page) == ("Account", account_page())
    assert "which it does not have now" in result.hit.about


def test_an_address_that_was_invited_leads_to_the_organization(operator: Client) -> None:
    assert ("Invitation", organization_page()) in shown(operator, "BOB@example.com")


def test_an_address_of_nobody_leads_to_its_mails(operator: Client) -> None:
    Invitation.objects.all().delete()
    mail = Mail.objects.get()
    Mail.objects.update(recipient="address:0", to="bob@example.com")
    assert shown(operator, "bob@example.com") == [("Mail", address("events_mail_change", mail.pk))]


def test_an_organization_is_found_by_id_name_and_membership(operator: Client) -> None:
    organization, membership = Organization.objects.get(name="Studio people"), Membership.objects.get()
    for text in (organization.pk, "studio pe", "Studio people", membership.pk):
        assert shown(operator, text) == [("Organization", organization_page())], text


def test_a_call_is_found_by_each_of_its_ids(operator: Client) -> None:
    usage_id = Purse("account", ALICE).call(50_000, "k-of-a-client", actor_did=ALICE, request_id=new_id("req"))
    foreign_id = Purse("account", ALICE).call(50_000, new_id("key"), actor_did=ALICE, request_id="trace:7f3a")
    call = Call.objects.get(pk=usage_id)
    hit = ("Call", address("billing_call_change", usage_id))
    for text in (usage_id, call.request_id, "k-of-a-client", f"{ALICE} k-of-a-client"):
        assert shown(operator, str(text)) == [hit], text
    assert shown(operator, "alice@studio.example k-of-a-client") == [hit]
    assert shown(operator, "trace:7f3a") == [("Call", address("billing_call_change", foreign_id))]
    assert shown(operator, "did:web:nobody.example k-of-a-client") == []


def test_an_old_call_is_found_by_its_key_with_its_owner(operator: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(found, "NEWEST_CALLS", 1)
    purse = Purse("account", ALICE)
    old = purse.call(50_000, "an-old-key", actor_did=ALICE, request_id=new_id("req"))
    for number in range(2):
        purse.call(50_000, f"a-newer-key-{number}", actor_did=ALICE)
    assert shown(operator, "an-old-key") == []
    assert shown(operator, f"{ALICE} an-old-key") == [("Call", address("billing_call_change", old))]
    assert len(shown(operator, str(Call.objects.get(pk=old).request_id))) == 1


def test_a_payment_is_found_by_each_id_and_by_its_refund(operator: Client) -> None:
    checkout = make_checkout(payment_ref="pi_7", status="expired", review_reason=None)
    ProviderEvent.objects.create(
        provider="stripe", event_id="evt_7", type="refund.created", object_ref="re_7", checkout_id=checkout.pk
    )
    ProviderEvent.objects.create(
        provider="stripe", event_id="evt_8", type="charge.refunded", object_ref="ch_8", payment_ref="pi_7"
    )
    hit = ("Payment", address("billing_checkout_change", checkout.pk))
    for text in (checkout.pk, checkout.session_ref, "pi_7", checkout.idempotency_key, "re_7", "evt_7"):
        assert shown(operator, str(text)) == [hit], text
    assert hit in shown(operator, "ch_8")


def test_invoices_and_what_belongs_to_them_are_found(operator: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(found, "PROVIDERS", ("stripe", "elsewhere"))
    payment = InvoicePayment.objects.exclude(payment_ref=None).select_related("invoice").earliest("pk")
    invoice = payment.invoice
    hit = ("Invoice", address("billing_invoice_change", invoice.pk))
    for text in (invoice.pk, invoice.number, str(invoice.number).lower(), payment.pk, payment.payment_ref):
        assert shown(operator, str(text)) == [hit], text
    credited = Invoice.objects.exclude(credit_notes=None).get()
    note = credited.credit_notes.get()
    for text in (note.pk, note.number):
        assert shown(operator, text) == [("Invoice", address("billing_invoice_change", credited.pk))], text


def test_credits_devices_and_settings_are_found(operator: Client) -> None:
    PublicClient.objects.filter(client_id="mobile").delete()
    client = PublicClient.objects.create(client_id="https://app.example", name="App")
    Purse("account", ALICE).grant(1_000)
    lot, budget, wallet = CreditLot.objects.latest("pk"), Budget.objects.get(), Wallet.objects.get(owner_key=ALICE)
    session, delivery, mail = DeviceSession.objects.get(), Delivery.objects.get(), Mail.objects.get()
    charge = AutoTopUpCharge.objects.filter(status="review").earliest("pk")
    expected = {
        lot.pk: [("Credit", address("billing_creditlot_change", lot.pk))],
        budget.pk: [("Budget", address("billing_budget_change", budget.pk))],
        wallet.pk: [("Wallet", address("billing_wallet_change", wallet.pk))],
        session.pk: [("Device", address("accounts_devicesession_change", session.pk))],
        client.client_id: [("Public client", address("accounts_publicclient_change", client.pk))],
        charge.pk: [("Automatic charge", address("billing_autotopupcharge_change", charge.pk))],
        str(charge.payment_ref): [("Automatic charge", address("billing_autotopupcharge_change", charge.pk))],
        delivery.event.public_id: [
            ("Delivery", address("events_delivery_change", delivery.pk)),
            ("Mail", address("events_mail_change", mail.pk)),
        ],
        str(delivery.pk): [("Delivery", address("events_delivery_change", delivery.pk))],
    }
    assert {text: shown(operator, text) for text in expected} == expected
    assert ("Alias", "alias") in [(kind, page.split("/")[3]) for kind, page in shown(operator, "fast")]


def test_several_hits_are_listed_with_who_and_when(operator: Client) -> None:
    Account.objects.filter(did=ALICE).update(display_name="Studio Alice")
    answer = search(operator, "studio")
    assert answer.status_code == 200
    text = answer.content.decode()
    assert account_page() in text
    assert organization_page() in text
    assert f"{timezone.now():%Y-%m-%d}" in text


@pytest.mark.parametrize(
    "text", ["nobody@example.com", "use_00000000000000000000000000", "%", "x" * 5000, "1" * 40, "-1"]
)
def test_whoever_finds_nothing_is_told_what_can_be_found(operator: Client, text: str) -> None:
    for query in ({}, {"extended": "1"}):
        answer = search(operator, text, **query)
        assert answer.status_code == 200
        assert "What can be searched for" in answer.content.decode()


@pytest.mark.parametrize("text", ["\0", "a\0@b.example"])
def test_a_zero_character_is_refused(operator: Client, text: str) -> None:
    assert [search(operator, text, **query).status_code for query in ({}, {"extended": "1"})] == [400, 400]


def test_a_pages_title_leads_to_it(operator: Client) -> None:
    assert ("Page", address("billing_wallet_changelist")) in shown(operator, "wallet")


def test_a_mark_of_the_pattern_is_a_letter(operator: Client) -> None:
    Account.objects.filter(did=ALICE).update(display_name="50% off")
    assert shown(operator, "50% o") == [("Account", account_page())]
    assert shown(operator, "5%f") == []


def test_nobody_finds_what_they_may_not_view() -> None:
    call, checkout = Call.objects.earliest("pk"), Checkout.objects.earliest("pk")
    texts = (
        ALICE,
        "alice@studio.example",
        call.pk,
        call.request_id,
        checkout.pk,
        "Studio people",
        "INV-000001",
        "fast",
    )
    blind, cashier = clerk(), clerk("view_checkout", name="cashier")
    assert [shown(blind, str(text)) for text in texts] == [[]] * len(texts)
    assert [kind for text in texts for kind, _ in shown(cashier, str(text))] == ["Payment"]
    assert re.findall(r"/admin/\w+/", search(blind, ALICE, extended="1").content.decode()) == []


@pytest.mark.usefixtures("untracked")
def test_each_look_up_reads_an_index(operator: Client) -> None:
    """With sequential scans made dear, a plan has one only where no index fits."""
    texts = ("a@b.example", "did:web:x", "Alice Miller", new_id("req"), "a-key-of-a-client", "INV-1", "org_1", "evt_1")
    scans = []
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL enable_seqscan = off")
    for text in texts:
        with CaptureQueriesContext(connection) as queries:
            search(operator, text, extended="1")
        with connection.cursor() as cursor:
            for query in queries:
                if query["sql"].startswith("SELECT") and "django_session" not in query["sql"]:
                    cursor.execute(f"EXPLAIN {query['sql']}")
                    plan = "\n".join(row[0] for row in cursor.fetchall())
                    scans += [(text, line.strip()) for line in plan.splitlines() if "Seq Scan" in line]
        assert len(queries) <= 45, text
    assert [scan for scan in scans if not re.search(r"Seq Scan on (auth_|django_)", scan[1])] == []
