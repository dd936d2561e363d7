"""Rate limits in the console: checked as in the file, with what is used of them now."""

from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from billing.models import Limit, LimitMeter
from billing.rules.limits import UNIT
from inference.models import Alias
from tests.factories.billing import Purse
from tests.gateway.operators import address, errors

pytestmark = pytest.mark.django_db

ALICE = "did:web:studio.example:alice"
ADD = "billing_limit_add"


def form(**members: object) -> dict[str, object]:
    return {
        "scope": "account",
        "subject": "",
        "requests_per_minute": "",
        "tokens_per_minute": "",
        "concurrent": "",
        **members,
    }


def test_takes_a_general_limit_and_one_of_a_subject(operator: Client) -> None:
    Alias.objects.create(name="fast")
    assert operator.post(address(ADD), form(requests_per_minute=600)).status_code == 303
    assert operator.post(address(ADD), form(scope="alias", subject="fast", concurrent=5)).status_code == 303
    found = Limit.objects.order_by("id").values_list("scope", "subject", "requests_per_minute", "concurrent")
    assert list(found) == [("account", None, 600, None), ("alias", "fast", None, 5)]
    page = operator.get(address("billing_limit_change", Limit.objects.get(scope="account").pk))
    assert "No call is under way." in page.content.decode()


@pytest.mark.parametrize(
    ("members", "field"),
    [
        ({"requests_per_minute": 0}, "requests_per_minute"),
        ({"concurrent": 1_000_000_001}, "concurrent"),
        ({"tokens_per_minute": "many"}, "tokens_per_minute"),
        ({"subject": "alice"}, "subject"),
        ({"scope": "alias"}, "subject"),
        ({"scope": "alias", "subject": "nameless"}, "subject"),
        ({"scope": "member", "subject": "mem_none"}, "subject"),
        ({"scope": "organization", "subject": "org_none"}, "subject"),
        ({"scope": "client", "subject": "https://app.example/"}, "subject"),
    ],
)
def test_refuses_what_the_file_refuses(operator: Client, members: dict[str, object], field: str) -> None:
    assert list(errors(operator.post(address(ADD), form(**members)))) == [field]
    assert not Limit.objects.exists()


def test_the_same_subject_twice_is_refused(operator: Client) -> None:
    Limit.objects.create(scope="account", concurrent=1)
    again = operator.post(address(ADD), form(concurrent=2))
    assert again.status_code == 200
    assert Limit.objects.get().concurrent == 1


def test_shows_what_is_used_now(operator: Client) -> None:
    alice = Purse(key=ALICE).pay(1000)
    alice.call(1)
    own = Limit.objects.create(
        scope="account", subject=ALICE, requests_per_minute=600, tokens_per_minute=5, concurrent=9
    )
    LimitMeter.objects.create(
        scope="account",
        subject=ALICE,
        requests_level=100 * UNIT,
        requests_at=timezone.now(),
        tokens_level=7000 * UNIT,
        tokens_at=timezone.now() + timedelta(hours=1),
        tokens_quota=1,
    )
    words = "7,000 tokens, 1 under way"
    for where in (address("billing_limit_changelist"), address("billing_limit_change", own.pk)):
        assert words in operator.get(where).content.decode()
    every = Limit.objects.create(scope="account", concurrent=3)
    page = address("billing_limit_change", every.pk)
    assert ALICE not in operator.get(page).content.decode()
    own.delete()
    assert f"{ALICE}: 1 under way" in operator.get(page).content.decode()
