"""Credits that an operator grants: once, with a reason and a log entry."""

import pytest
from django.contrib.admin.models import ADDITION
from django.test import Client

from billing.models import CreditLot, Transfer, Wallet
from gateway.core.contract.ids import new_id
from tests.gateway.console import ALICE
from tests.gateway.operators import address, errors, logged

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("configured")]


def grant(**members: str) -> dict[str, str]:
    return {
        "owner_kind": "account",
        "owner_key": ALICE,
        "amount_microusd": "2500000",
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
    assert (lot.wallet.owner_key, lot.remaining_microusd, lot.product, lot.expires_at) == (ALICE, 2500000, None, None)
    assert Transfer.objects.filter(source=lot.pk).values_list("kind", "amount_microusd").get() == ("grant", 2500000)
    assert [words for flag, words in logged() if flag == ADDITION] == [
        "Granted $2.50: an apology",
        "Already granted $2.50: an apology",
    ]


@pytest.mark.parametrize(
    "change",
    [
        {"amount_microusd": "9"},
        {"product": "studio"},
        {"expires_at_0": "2099-01-31", "expires_at_1": "12:00:00"},
        {"owner_key": "did:web:studio.example:bob"},
    ],
)
def test_a_form_that_is_sent_again_with_something_else_grants_nothing(operator: Client, change: dict[str, str]) -> None:
    form = grant(product="")
    operator.post(address("billing_creditlot_add"), form)
    answer = operator.post(address("billing_creditlot_add"), form | change, follow=True)
    assert b"This form has granted another credit" in answer.content
    assert CreditLot.objects.get(source_kind="console").remaining_microusd == 2500000
    assert len(logged()) == 1


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
        ({"owner_key": "did:web:studio.example:nobody"}, "owner_key"),
        ({"owner_kind": "organization", "owner_key": "org_nobody"}, "owner_key"),
        ({"amount_microusd": "0"}, "amount_microusd"),
        ({"amount_microusd": "-5"}, "amount_microusd"),
        ({"reason": ""}, "reason"),
        ({"reason": "gift \u202eknarf"}, "reason"),
        ({"reason": "gift\nGranted $9.00"}, "reason"),
        ({"expires_at_0": "2020-01-01", "expires_at_1": "00:00:00"}, "expires_at"),
        ({"product": "unknown"}, "product"),
        ({"key": "mine"}, "key"),
    ],
)
def test_a_grant_that_makes_no_sense_is_refused(operator: Client, members: dict[str, str], field: str) -> None:
    wallets = list(Wallet.objects.order_by("id").values())
    response = operator.post(address("billing_creditlot_add"), grant(**members))
    assert list(errors(response)) == [field]
    assert not CreditLot.objects.filter(source_kind="console").exists()
    assert list(Wallet.objects.order_by("id").values()) == wallets
