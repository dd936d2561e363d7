"""Credits that an operator grants: once, with a reason and a log entry."""

from typing import Any

import pytest
from allauth.account.models import EmailAddress
from django.contrib.admin.models import ADDITION
from django.test import Client
from django.utils import timezone

from accounts.models import Account
from billing.models import CreditLot, Transfer, Wallet
from gateway.core.contract.ids import new_id
from organizations.operations import organizations
from tests.gateway.console import ALICE
from tests.gateway.operators import address, errors, logged

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("configured")]


def grant(**members: str) -> dict[str, str]:
    return {
        "owner": ALICE,
        "amount": "2.50",
        "reason": "an apology",
        "key": new_id("crd"),
        "expires_at_0": "",
        "expires_at_1": "",
    } | members


def test_a_credit_is_granted_once_also_when_the_form_is_sent_twice(operator: Client) -> None:
    form = grant(product="")
    for _ in range(2):
        assert operator.post(address("billing_creditlot_add"), form).status_code == 303

    lot = CreditLot.objects.get(source_kind="console")
    assert str(lot) == f"{lot.pk}: $2.50 of $2.50"
    assert (lot.wallet.owner_key, lot.remaining_microusd, lot.product, lot.expires_at) == (ALICE, 2500000, None, None)
    assert Transfer.objects.filter(source=lot.pk).values_list("kind", "amount_microusd").get() == ("grant", 2500000)
    assert [words for flag, words in logged() if flag == ADDITION] == [
        f"Granted $2.50 to {ALICE}: an apology",
        f"Already granted $2.50 to {ALICE}: an apology",
    ]


@pytest.mark.parametrize(
    "change",
    [
        {"amount": "9"},
        {"product": "studio"},
        {"expires_at_0": "2099-01-31", "expires_at_1": "12:00:00"},
        {"owner": "did:web:studio.example:bob"},
    ],
)
def test_a_form_that_is_sent_again_with_something_else_grants_nothing(operator: Client, change: dict[str, str]) -> None:
    form = grant(product="")
    operator.post(address("billing_creditlot_add"), form)
    answer = operator.post(address("billing_creditlot_add"), form | change, follow=True)
    assert b"This form was already used to grant another credit" in answer.content
    assert CreditLot.objects.get(source_kind="console").remaining_microusd == 2500000
    assert len(logged()) == 1


@pytest.mark.parametrize(
    ("typed", "amount_microusd"),
    [("5", 5_000_000), ("$5.10", 5_100_000), (" 0.000001 ", 1), ("0.1", 100_000), ("1000000", 10**12)],
)
def test_an_amount_is_typed_in_dollars_and_granted_exactly(operator: Client, typed: str, amount_microusd: int) -> None:
    assert operator.post(address("billing_creditlot_add"), grant(amount=typed)).status_code == 303
    assert CreditLot.objects.get(source_kind="console").granted_microusd == amount_microusd


def test_an_amount_that_is_refused_says_why(operator: Client) -> None:
    why = {
        "0": "The amount must be at least $0.000001.",
        "-5": "The amount must be at least $0.000001.",
        "5,00": "Enter dollars as digits with a decimal point, such as 5.00.",
        "0.1234567": "An amount has at most 6 decimals.",
        "1000001": "The amount must be at most $1,000,000.00.",
        "1" * 13: "This amount is too large.",
    }
    for typed, words in why.items():
        assert errors(operator.post(address("billing_creditlot_add"), grant(amount=typed))) == {"amount": [words]}


@pytest.mark.parametrize("typed", ["Alice@Studio.example", " alice@studio.example "])
def test_a_credit_is_granted_by_the_email_address_that_an_account_has_proven(operator: Client, typed: str) -> None:
    alice = Account.objects.get(did=ALICE)
    EmailAddress.objects.create(user=alice, email="alice@studio.example", primary=True, verified=True)
    Account.objects.filter(pk=alice.pk).update(email="alice@studio.example", display_name="Alice")
    operator.post(address("billing_creditlot_add"), grant(owner=typed))
    assert CreditLot.objects.get(source_kind="console").wallet.owner_key == ALICE
    assert logged() == [(ADDITION, "Granted $2.50 to Alice (alice@studio.example): an apology")]


def test_a_credit_goes_to_no_one_who_only_claims_an_address(operator: Client, settings: Any) -> None:
    settings.ACCOUNT_EMAIL_VERIFICATION = "mandatory"
    claimant = Account.objects.create_user("did:web:studio.example:claimant", "alice@studio.example", None)
    EmailAddress.objects.create(user=claimant, email="alice@studio.example", primary=True)
    refused = operator.post(address("billing_creditlot_add"), grant(owner="alice@studio.example"))
    assert list(errors(refused)) == ["owner"]
    assert not CreditLot.objects.filter(source_kind="console").exists()


def test_a_credit_is_granted_to_an_organization_that_has_no_wallet_yet(operator: Client) -> None:
    founder = organizations.create(name="Studio people", account=Account.objects.get(did=ALICE), now=timezone.now())
    operator.post(address("billing_creditlot_add"), grant(owner=founder.organization_id))
    wallet = CreditLot.objects.get(source_kind="console").wallet
    assert (wallet.owner_kind, wallet.owner_key) == ("organization", founder.organization_id)


def test_a_credit_can_be_for_a_product_and_expire(operator: Client) -> None:
    operator.post(
        address("billing_creditlot_add"),
        grant(product="studio", expires_at_0="2099-01-31", expires_at_1="12:00:00"),
    )
    lot = CreditLot.objects.get(source_kind="console")
    assert (lot.product, str(lot.expires_at)) == ("studio", "2099-01-31 12:00:00+00:00")


@pytest.mark.parametrize(
    ("members", "field"),
    [
        ({"owner": "did:web:studio.example:nobody"}, "owner"),
        ({"owner": "org_nobody"}, "owner"),
        ({"owner": "nobody@studio.example"}, "owner"),
        ({"owner": "claimed@studio.example"}, "owner"),
        ({"owner": "Alice"}, "owner"),
        ({"amount": ""}, "amount"),
        ({"amount": "0"}, "amount"),
        ({"amount": "0.000000"}, "amount"),
        ({"amount": "-5"}, "amount"),
        ({"amount": "5,00"}, "amount"),
        ({"amount": "1e3"}, "amount"),
        ({"amount": "0.0000001"}, "amount"),
        ({"amount": "\u0665"}, "amount"),
        ({"amount": "1000000.000001"}, "amount"),
        ({"amount": 400 * "9"}, "amount"),
        ({"reason": ""}, "reason"),
        ({"reason": "gift \u202eknarf"}, "reason"),
        ({"reason": "gift\nGranted $9.00"}, "reason"),
        ({"expires_at_0": "2020-01-01", "expires_at_1": "00:00:00"}, "expires_at"),
        ({"product": "unknown"}, "product"),
        ({"key": "mine"}, "key"),
    ],
)
def test_a_grant_that_makes_no_sense_is_refused(operator: Client, members: dict[str, str], field: str) -> None:
    EmailAddress.objects.create(user=Account.objects.get(did=ALICE), email="claimed@studio.example", primary=True)
    wallets = list(Wallet.objects.order_by("id").values())
    response = operator.post(address("billing_creditlot_add"), grant(**members))
    assert list(errors(response)) == [field]
    assert not CreditLot.objects.filter(source_kind="console").exists()
    assert list(Wallet.objects.order_by("id").values()) == wallets
