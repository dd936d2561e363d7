"""Credits of operators who may grant only small ones: altogether within a sum for 24 hours, also when they are granted at once."""

from datetime import timedelta
from typing import Any

import pytest
from django.contrib.admin.models import LogEntry
from django.test import Client
from django.utils import timezone
from pytest_django import Settings

from accounts.models import Account
from billing.models import CreditLot
from billing.operations import credits
from gateway.core.contract.ids import new_id
from tests.factories.accounts import make_account
from tests.gateway.operators import address, clerk, errors
from tests.support.concurrency import at_once

pytestmark = pytest.mark.django_db(transaction=True)

ALICE = "did:web:studio.example:alice"


@pytest.fixture(autouse=True)
def alice(settings: Settings) -> None:
    settings.SUPPORT_CREDIT_DAY_MICROUSD = 50_000_000
    make_account(ALICE)


def grant(client: Client, amount: str, **members: str) -> Any:
    form = {"owner": ALICE, "amount": amount, "product": "", "reason": "an apology", "key": new_id("crd")}
    return client.post(address("billing_creditlot_add"), {**form, "expires_at_0": "", "expires_at_1": "", **members})


def granted() -> int:
    return sum(CreditLot.objects.values_list("granted_microusd", flat=True))


def test_the_sum_of_a_day_is_the_limit() -> None:
    support = clerk("grant_small_creditlot")
    assert grant(support, "30").status_code == 303
    refused = grant(support, "20.01")
    assert errors(refused) == {"amount": ["You may still grant $20.00 today. Let somebody of finance grant more."]}
    assert grant(support, "20").status_code == 303
    assert errors(grant(support, "0.01"))["amount"]
    assert granted() == 50_000_000
    LogEntry.objects.update(action_time=timezone.now() - timedelta(days=1, seconds=1))
    assert grant(support, "50").status_code == 303


def test_another_operators_credits_do_not_count() -> None:
    assert grant(clerk("grant_small_creditlot"), "50").status_code == 303
    assert grant(clerk("grant_small_creditlot", name="other"), "50").status_code == 303
    assert grant(clerk("add_creditlot", name="finance"), "5000").status_code == 303
    assert granted() == 5_100_000_000


def test_a_form_that_is_sent_twice_grants_and_counts_once() -> None:
    support, key = clerk("grant_small_creditlot"), new_id("crd")
    for _ in range(2):
        assert grant(support, "50", key=key).status_code == 303
    grant(support, "60", key=key)
    assert granted() == 50_000_000


def test_the_key_of_another_kind_of_credit_passes_no_limit() -> None:
    support, key = clerk("grant_small_creditlot"), new_id("crd")
    credits.grant("account", ALICE, amount_microusd=1_000_000, source_kind="config", source_key=key)
    assert errors(grant(support, "60", key=key))["amount"]
    assert granted() == 1_000_000


def test_credits_at_once_stay_within_the_limit() -> None:
    support = clerk("grant_small_creditlot")
    tabs = [Client() for _ in range(4)]
    for tab in tabs:
        tab.cookies = support.cookies
    answers = at_once(*((lambda tab=tab: grant(tab, "20").status_code) for tab in tabs))
    assert sorted(answers) == [200, 200, 303, 303]
    assert granted() == 40_000_000


def test_an_unreadable_form_is_answered() -> None:
    support = clerk("grant_small_creditlot")
    for members in ({"amount": "x"}, {"key": "\x00"}, {"amount": "-1"}, {"owner": "nobody"}):
        assert grant(support, **{"amount": "60", **members}).status_code in (200, 400), members
    assert granted() == 0


def test_the_customers_page_counts_towards_the_same_sum() -> None:
    support = clerk("grant_small_creditlot", "view_account")
    path = address("customers_account_credit", Account.objects.get(did=ALICE).pk)
    form = {
        "amount": "30",
        "product": "",
        "reason": "an apology",
        "expires_at_0": "",
        "expires_at_1": "",
        "_form_submitted": "on",
    }
    for key in (new_id("crd"), new_id("crd")):
        assert "HX-Redirect" in support.post(path, {**form, "key": key})
    assert granted() == 30_000_000
    assert errors(grant(support, "20.01"))["amount"]
    assert grant(support, "20").status_code == 303
    assert granted() == 50_000_000
