"""Automatic top-up in the portal: a person's page, and an organization's."""

import re
from typing import Any

import pytest
from django.test import Client

from billing.models import AutoTopUp, Checkout, PaymentMethod
from billing.operations import checkouts
from billing.rules import auto_top_up_labels as labels
from billing.rules.charges import DISMISSED, NEVER_MADE
from billing.rules.months import month_around
from gateway.core.contract.ids import new_id
from organizations.models import AuditEntry
from organizations.operations import suspension
from tests.billing.auto_top_up.saver import USD, Saver
from tests.factories.organizations import account
from tests.portal.organization_browser import OrganizationPages
from tests.portal.test_wallet import client_of, text_of
from tests.support.stripe import FakeStripe

pytestmark = pytest.mark.django_db

PAGE = "/wallet/auto-top-up"
TERMS = {"threshold": "5", "amount": "20.00", "monthly_limit": "100"}


@pytest.fixture
def client() -> Client:
    return client_of("alice")


@pytest.fixture
def saver(provider: FakeStripe) -> Saver:
    return Saver(provider, did=account("alice").did)


def once() -> dict[str, str]:
    """Return the key of a form."""
    return {"key": new_id("frm")}


def page(client: Client, path: str = PAGE) -> str:
    answer = client.get(path)
    assert answer.status_code == 200
    return text_of(answer)


def test_a_person_turns_it_on_and_off(client: Client, saver: Saver) -> None:
    assert "Off Nothing is charged automatically." in page(client)
    assert client.post(PAGE, TERMS).status_code == 303
    assert "No payment method Nothing is charged until a payment method is saved." in page(client)
    row = AutoTopUp.objects.get()
    assert (row.threshold_microusd, row.amount_microusd, row.monthly_limit_microusd) == (5 * USD, 20 * USD, 100 * USD)
    saver.save_method()
    shown = page(client)
    assert "On The saved payment method is charged when the wallet is low." in shown
    assert "Visa ending in 4242, 12/2034" in shown
    assert client.post(f"{PAGE}/off").status_code == 303
    assert AutoTopUp.objects.get().is_enabled is False
    assert "Off Nothing is charged automatically." in page(client)


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"threshold": ""}, "This field is required."),
        ({"threshold": "0"}, "greater than or equal to 0.01"),
        ({"amount": "0.99"}, "greater than or equal to 1"),
        ({"amount": "20.001"}, "no more than 2 decimal places"),
        ({"amount": "10001"}, "less than or equal to 10000"),
        ({"monthly_limit": "19.99"}, "This is less than one charge."),
        ({"monthly_limit": "1e300"}, "Ensure that there are no more than"),
    ],
)
def test_what_is_wrong_is_said_beside_it(client: Client, saver: Saver, wrong: dict[str, str], words: str) -> None:
    answer = client.post(PAGE, TERMS | wrong)
    assert (answer.status_code, AutoTopUp.objects.exists()) == (400, False)
    assert words in text_of(answer)


def test_a_charge_is_listed_and_its_payment_is_called_automatic(client: Client, saver: Saver) -> None:
    saver.save_method()
    client.post(PAGE, TERMS)
    saver.spend(6 * USD)
    saver.run()
    shown = page(client)
    assert "Charged this month (UTC) $20.00" in shown
    assert "Paid $20.00" in shown
    [charge] = saver.charges
    assert "For Automatic top-up" in page(client, f"/wallet/payments/{charge.pk}")
    assert client.get(f"/wallet/payments/{charge.pk}/receipt").status_code == 200
    assert client_of("bob").get(f"/wallet/payments/{charge.pk}").status_code == 404


def test_a_refusal_is_explained_and_not_repeated_within_a_minute(client: Client, saver: Saver) -> None:
    saver.save_method("insufficient_funds")
    client.post(PAGE, TERMS)
    saver.spend(6 * USD)
    saver.run()
    shown = page(client)
    assert "Paused Nothing is charged automatically. There was not enough money on the card." in shown
    assert "Refused There was not enough money on the card. $20.00" in shown
    answer = client.post(PAGE, TERMS)
    assert (answer.status_code, len(saver.charges)) == (429, 1)


def test_a_month_without_room_for_another_charge_says_when_it_goes_on(client: Client, saver: Saver) -> None:
    saver.save_method()
    client.post(PAGE, TERMS | {"monthly_limit": "39.99"})
    assert "Nothing was charged automatically yet. The first charge is made when the wallet is below $5.00." in page(
        client
    )
    saver.spend(6 * USD)
    saver.run()
    next_month = month_around(saver.now)[1]
    words = f"Limit reached This month has no room for another charge before {next_month:%-d %B} (UTC)."
    assert words in page(client)
    client.post(PAGE, TERMS | {"monthly_limit": "40"})
    assert "On The saved payment method is charged when the wallet is low." in page(client)


def test_what_was_never_charged_is_not_called_refused() -> None:
    never, dismissed = labels.outcome("failed", NEVER_MADE), labels.outcome("failed", DISMISSED)
    assert (never.word, never.meaning) == (
        "Not charged",
        "The payment provider has no record of the charge. Nothing was charged.",
    )
    assert (dismissed.word, dismissed.meaning) == (
        "Not credited",
        "The operator of this service ended its review. Nothing was credited.",
    )


def test_a_payment_that_the_bank_wants_confirmed_is_paid_on_the_providers_page(client: Client, saver: Saver) -> None:
    saver.save_method("authentication_required")
    client.post(PAGE, TERMS)
    saver.spend(6 * USD)
    saver.run()
    assert "Your bank did not accept a charge of $20.00 without you." in page(client)
    form = once()
    answers = [client.post(f"{PAGE}/confirm", form) for _ in range(2)]
    checkout = Checkout.objects.latest("created_at")
    assert [answer["Location"] for answer in answers] == [checkout.url] * 2
    assert (checkout.amount_microusd, checkout.saves_method) == (20 * USD, True)
    saver.provider.pay(str(checkout.session_ref))
    checkouts.converge(checkout, now=saver.now)
    assert "On The saved payment method" in page(client)
    assert saver.balance == 24
    assert client.post(f"{PAGE}/confirm", once())["Location"] == PAGE


def test_a_card_is_saved_with_a_top_up_or_alone_and_removed(client: Client, saver: Saver) -> None:
    client.post("/wallet/payments", {"amount": "5", "saves_method": "on", **once()})
    first = Checkout.objects.latest("created_at")
    assert client.post("/wallet/payment-method", once()).status_code == 303
    second = Checkout.objects.latest("created_at")
    assert (first.saves_method, second.kind) == (True, "payment_method")
    for checkout in (first, second):
        saver.provider.pay(str(checkout.session_ref))
        checkouts.converge(checkout, now=saver.now)
    assert "Remove payment method" in page(client)
    assert client.post("/wallet/payment-method/remove").status_code == 303
    assert PaymentMethod.objects.filter(removed_by=saver.did).count() == 2
    assert "No payment method is saved." in page(client)


@pytest.mark.parametrize("path", ["off", "confirm"])
def test_only_forms_change_anything(client: Client, saver: Saver, path: str) -> None:
    assert client.get(f"{PAGE}/{path}").status_code == 405
    assert Client().post(f"{PAGE}/{path}")["Location"].startswith("/account/login")
    assert not AutoTopUp.objects.exists()


def test_an_organizations_owner_sets_it_and_the_log_says_so(
    organization_pages: OrganizationPages, provider: FakeStripe
) -> None:
    team, owner = organization_pages.team, organization_pages["owner"]
    path = f"/organizations/{team.id}/auto-top-up"
    saver = Saver(provider, ("organization", team.id), team.owner.did)
    saver.save_method("authentication_required")
    assert owner.post(path, TERMS).status_code == 303
    assert "Invoices are charged to it, too." in page(owner, path)
    saver.spend(9 * USD)
    saver.run()
    answer = owner.post(f"{path}/confirm", once())
    assert answer["Location"] == Checkout.objects.latest("created_at").url
    assert owner.post(f"{path}/off").status_code == 303
    assert owner.post(f"/organizations/{team.id}/payment-method/remove").status_code == 303
    found = AuditEntry.objects.filter(organization=team.id).order_by("-id").values_list("action", flat=True)[:4]
    assert list(found) == ["payment_method.remove", "auto_top_up.off", "top_up.begin", "auto_top_up.set"]
    log = page(owner, f"/organizations/{team.id}/log")
    assert "set automatic top-up to $20.00 below $5.00, at most $100.00 per month" in log


def test_a_suspended_organizations_page_says_that_nothing_is_charged(
    organization_pages: OrganizationPages, provider: FakeStripe
) -> None:
    team, owner = organization_pages.team, organization_pages["owner"]
    path = f"/organizations/{team.id}/auto-top-up"
    Saver(provider, ("organization", team.id), team.owner.did).save_method()
    owner.post(path, TERMS)
    waiting = "Waiting Nothing is charged automatically while the organization is suspended or an invoice is overdue."
    suspension.suspend(org_id=team.id, text="", actor_did=team.owner.did)
    assert waiting in page(owner, path)
    suspension.lift(org_id=team.id, actor_did=team.owner.did)
    assert "On The saved payment method is charged when the wallet is low." in page(owner, path)


@pytest.mark.parametrize("role", ["admin", "member"])
def test_other_members_of_an_organization_are_refused(
    organization_pages: OrganizationPages, provider: FakeStripe, role: str
) -> None:
    org = f"/organizations/{organization_pages.team.id}"
    client = organization_pages[role]
    for path, form in (("auto-top-up", TERMS), ("auto-top-up/off", {}), ("payment-method/remove", {})):
        assert client.post(f"{org}/{path}", form).status_code == 403
    assert not AutoTopUp.objects.exists()


def test_a_strangers_page_does_not_exist(organization_pages: OrganizationPages, client: Client) -> None:
    answer: Any = client.get(f"/organizations/{organization_pages.team.id}/auto-top-up")
    assert answer.status_code == 404
    assert not re.search("Automatic", text_of(answer))
